#if os(Linux)
  import Foundation
  import QuireSimulation
  import QuireStorage
  import Testing

  // A store was restored while another thread started a program. Until the program ran, its process
  // had copies of all descriptors, that of the new file among them and with it the lock: the store
  // could not be opened, as it was in use by an unknown process.

  /// Files that were locked, and of which a process that is being started has a copy.
  @Suite struct UnlockingTests {
    /// Copies of the descriptors of the files in a folder. `dup` leaves locks shared, as the start
    /// of a process does.
    private final class Copies {
      private let folder: String
      private(set) var descriptors: [Int32] = []

      init(of folder: String) { self.folder = folder }

      deinit { for descriptor in descriptors { close(descriptor) } }

      func take() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
          // One of another test may be closed by now.
          guard let number = Int32(name),
            let path = try? FileManager.default.destinationOfSymbolicLink(
              atPath: "/proc/self/fd/\(name)"),
            path.hasPrefix(folder + "/")
          else { continue }
          descriptors.append(dup(number))
        }
      }
    }

    private func numbers(at path: String) throws -> [Int64] { try Forks.numbers(at: path) }

    @Test func `a restored store can be opened at once`() throws {
      let (folder, place) = (try TemporaryFolder(), try TemporaryFolder())
      let store = try PageStore.open(folder.path + "/store")
      defer { try? store.close() }
      for number in 1...2 as ClosedRange<Int64> {
        try Forks.commit(number, to: store)
        let copies = Copies(of: place.path)
        try store.restore(to: place.path + "/other") { _, _ in
          try copies.take()
          return true
        }
        #expect(!copies.descriptors.isEmpty)
        #expect(try numbers(at: place.path + "/other") == Array(1...number))
      }
    }

    @Test func `a store that was looked at or closed can be opened at once`() throws {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let copies = Copies(of: folder.path)
      for number in 1...2 as ClosedRange<Int64> {
        let store = try PageStore.open(path)
        try Forks.commit(number, to: store)
        try copies.take()
        try store.close()
        do {
          let anatomy = try StoreAnatomy(of: path)
          try copies.take()
          withExtendedLifetime(anatomy) {}
        }
        #expect(try numbers(at: path) == Array(1...number))
      }
      #expect(copies.descriptors.count >= 4)
    }
  }
#endif
