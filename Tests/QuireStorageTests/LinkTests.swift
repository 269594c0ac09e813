import QuireSimulation
import QuireStorage
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

// The note of the owner, the log, the images were written through symbolic links of their names, to
// whatever file these led to.

/// Links where a store has files of its own.
@Suite struct `Links beside a store` {
  enum Kind: CaseIterable { case symbolic, hard, dangling }
  enum Time: CaseIterable { case beforeOpening, whileOpen, afterDeath }
  static let suffixes = ["-log", "-log-new", "-pages", "-pages-new", "-owner"]
  static let precious = Array("nobody may write to this".utf8)

  static var options: PageStoreOptions {
    var options = Proof.options
    options.imageByteLimit = 0
    options.identity = nil
    return options
  }

  private func use(_ store: PageStore) throws {
    for byte in 1...3 as ClosedRange<UInt8> {
      try Proof.put(store, 0..<60, byte)
      try store.checkpoint()
    }
    try store.compact()
    try Proof.put(store, 0..<60, 4)
    try store.removeLog()
    try Proof.put(store, 0..<60, 5)
  }

  @Test(arguments: Kind.allCases, Time.allCases)
  func `the target of a link beside a store is not written to`(_ kind: Kind, _ time: Time) throws {
    let place = Kind.allCases.firstIndex(of: kind)! + 3 * Time.allCases.firstIndex(of: time)!
    for suffix in Amount.some(of: Self.suffixes, oneIn: 3, at: place) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let target = folder.path + "/precious"
      if kind != .dangling {
        let file = try DiskFileSystem().open(target, .create)
        try Self.precious.withUnsafeBytes { try file.write($0, at: 0) }
      }
      func plant() {
        unlink(path + suffix)
        if kind == .hard { link(target, path + suffix) } else { symlink(target, path + suffix) }
      }
      var store: PageStore? = try PageStore.open(path, options: Self.options)
      if time == .whileOpen { plant() }
      try store.map(use)
      if time != .afterDeath { try store?.close() }
      store = nil
      if time != .whileOpen { plant() }
      do {
        store = try PageStore.open(path, options: Self.options)
        try store.map(use)
        try store?.close()
      } catch let error as StorageError {
        // One that hides what the store needs is an error that names it.
        #expect(suffix == "-log" || suffix == "-pages", "\(suffix) \(error)")
        #expect("\(error)".contains(path + suffix))
      }
      store = nil
      try PageStore.remove(path)
      #expect(folder.names == (kind == .dangling ? [] : ["precious"]), "\(suffix)")
      if kind != .dangling { #expect(try folder.contents()["precious"] == Self.precious) }
    }
  }

  @Test func `a simulated link is not followed either`() throws {
    for suffix in Self.suffixes {
      let disk = SimulatedDisk()
      disk.alter { disk in
        disk.put(Self.precious, at: "precious")
        disk.link("store" + suffix, to: "precious")
      }
      do {
        let store = try PageStore.open("store", options: Self.options, in: disk)
        try use(store)
        try store.close()
      } catch is StorageError {
        #expect(suffix == "-log" || suffix == "-pages", "\(suffix)")
      }
      #expect(disk.files["precious"] == Self.precious)
    }
  }

  @Test func `no backup is written through a link`() throws {
    let folder = try TemporaryFolder()
    let (path, link) = (folder.path + "/store", folder.path + "/link")
    let store = try PageStore.open(path, options: Self.options)
    try Proof.put(store, 0..<9, 1)
    symlink(folder.path + "/nothing", link)
    #expect(throws: StorageError.alreadyExists(path: link)) { try store.backUp(to: link) }
    symlink(path, folder.path + "/own")
    #expect(throws: StorageError.self) { try store.backUp(to: folder.path + "/own") }
    #expect(throws: StorageError.self) { try store.backUp(replacing: folder.path + "/own") }
    try store.close()
    #expect(folder.names == ["link", "own", "store"])
  }
}
