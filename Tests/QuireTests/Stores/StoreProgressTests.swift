import Foundation
import Quire
import Synchronization
import Testing

private final class Sheet: ManagedObject {
  @Managed(.indexed) var title: String = ""
  @Managed var pile: Pile?
}

private final class Pile: ManagedObject {
  @Managed(inverse: \Sheet.pile) var sheets: Set<Sheet>
}

/// Long operations on stores tell how far they are.
@Suite struct StoreProgressTests {
  private static let model = try! ManagedObjectModel(for: Sheet.self)

  /// A closed store of a pile with its sheets.
  private func withStore(_ body: (URL, URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "sheets.quire")
      let container = try PersistentContainer(name: "Sheets", for: Sheet.self)
      try container.loadPersistentStore(at: url)
      try container.writeAndWait { context in
        let pile = Pile(context: context)
        for number in 0..<1_500 {
          let sheet = Sheet(context: context)
          (sheet.title, sheet.pile) = ("sheet \(number)", pile)
        }
      }
      try container.close()
      try body(url, folder)
    }
  }

  /// Checks that a task told several times how far it is, never less than before, and was at its
  /// end in the end.
  private func expectShares(_ states: [StoreProgress], atLeast count: Int) {
    let shares = states.map(\.fractionCompleted)
    #expect(shares.count >= count, "\(states)")
    #expect(shares == shares.sorted() && shares.allSatisfy { (0...1).contains($0) }, "\(states)")
    #expect((shares.first ?? 1) < 0.9 && (shares.last ?? 0) > 0.6, "\(states)")
  }

  @Test func `an inspection counts pages, then rows and links`() throws {
    try withStore { url, _ in
      var states: [StoreProgress] = []
      let inspection = try StoreInspection(of: url) { states.append($0) }
      #expect(inspection.isSound && inspection.objectCount == 1_501)
      expectShares(states, atLeast: 2)
      // Without the last rows, of which no round number is reached.
      let total = try #require(states.last?.totalUnitCount)
      #expect(states.allSatisfy { $0.totalUnitCount == total } && total >= 3_001)
    }
  }

  @Test func `a restore counts the bytes of the backup, and may be ended`() throws {
    try withStore { url, folder in
      let backup = folder.appending(path: "backup.quire")
      try FileManager.default.copyItem(at: url, to: backup)
      let before = try Data(contentsOf: url)
      struct Ended: Error {}
      #expect(throws: Ended.self) {
        try PersistentStoreCoordinator.restorePersistentStore(at: url, fromBackupAt: backup) { _ in
          throw Ended()
        }
      }
      #expect(try Data(contentsOf: url) == before)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
          == ["backup.quire", "sheets.quire"])
      var states: [StoreProgress] = []
      try PersistentStoreCoordinator.restorePersistentStore(at: url, fromBackupAt: backup) {
        states.append($0)
      }
      #expect(states.last?.fractionCompleted == 1)
      #expect(states.last?.totalUnitCount == before.count)
    }
  }

  @Test func `a salvage counts pages while it reads, and entries while it writes`() throws {
    try withStore { url, folder in
      var read: [StoreProgress] = []
      let salvage = try StoreSalvage(of: url) { read.append($0) }
      // It is told every 256 pages, and this store has fewer.
      #expect(read.allSatisfy { $0.fractionCompleted <= 1 })
      var written: [StoreProgress] = []
      let new = folder.appending(path: "new.quire")
      #expect(try salvage.write(to: new) { written.append($0) }.isComplete)
      expectShares(written, atLeast: 5)
    }
  }

  @Test func `a salvage that is ended leaves no file`() throws {
    try withStore { url, folder in
      struct Ended: Error {}
      #expect(throws: Ended.self) {
        try StoreSalvage(of: url).write(to: folder.appending(path: "new.quire")) { state in
          if state.fractionCompleted > 0.5 { throw Ended() }
        }
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names == ["sheets.quire"])
    }
  }
}
