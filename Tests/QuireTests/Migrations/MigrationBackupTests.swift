import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MigrationBackupTests {
  private struct Content: Equatable {
    var version: String
    var texts: [String]
  }

  private static let url = URL(filePath: "/store.quire")
  private static let backupPath = "/store.quire~"

  private static func versions() throws -> VersionedModel {
    func model(_ attribute: String) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        Entity("Note") {
          Attribute("text", .string)
          Attribute(attribute, .integer64, default: 1)
        }
      ])
    }
    return try #require(
      VersionedModel(versions: [
        .init("one", model("a")), .init("two", model("b")), .init("three", model("c")),
      ]))
  }

  private static func options(_ backup: MigrationBackup) -> PersistentStoreOptions {
    var options = PersistentStoreOptions.migrating
    options.migrationBackup = backup
    return options
  }

  /// The version and every object's text; opens without migrating.
  private func content(
    _ disk: any FileSystem, _ url: URL = Self.url
  ) throws -> Content {
    let versions = try Self.versions()
    for version in versions.versions {
      do {
        return try open(disk, url, version.name, [:]) { context, _ in
          let notes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))
          let texts = try notes.map { try $0.value(forKey: "text") as? String ?? "" }
          return Content(version: version.name, texts: texts)
        }
      } catch let error as PersistenceError
        where error.code == .persistentStoreIncompatibleVersionHash
      {}
    }
    throw PersistenceError(.persistentStoreOpen, "the store has no known version")
  }

  private func open<Result>(
    _ disk: any FileSystem, _ url: URL = Self.url, _ version: String,
    _ options: PersistentStoreOptions,
    _ body: (ManagedObjectContext, PersistentStore) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try #require(try Self.versions().endingAt(version)))
    let store = try coordinator.addPersistentStore(
      type: .quire, at: url, options: options, in: disk)
    let context = GotchaHome.context(of: coordinator)
    do {
      let result = try body(context, store)
      try coordinator.remove(store)
      return result
    } catch {
      try? coordinator.remove(store)
      throw error
    }
  }

  private func create(_ disk: any FileSystem, _ url: URL = Self.url, uuid: UUID? = nil) throws {
    var options = PersistentStoreOptions()
    options.storeUUID = uuid
    try open(disk, url, "one", options) { context, _ in
      for number in 0..<60 {
        let note = try EntityDescription.insertNewObject(forEntityName: "Note", into: context)
        try note.setValue(String(repeating: "text \(number) ", count: 20), forKey: "text")
      }
      try context.save()
    }
  }

  @discardableResult
  private func migrate(
    _ disk: any FileSystem, _ url: URL = Self.url, to version: String = "two",
    _ backup: MigrationBackup = .beside
  ) throws -> MigrationReport? {
    try open(disk, url, version, Self.options(backup)) { _, store in store.migrationReport }
  }

  private func error(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      Issue.record("no error")
      return nil
    } catch {
      return error as? PersistenceError
    }
  }

  // MARK: Backups

  @Test func `before a migration the store is copied, and the next backup takes its place`() throws
  {
    try withTemporaryFolder { folder in
      let disk = DiskFileSystem()
      let url = folder.appending(path: "store.quire")
      let backup = folder.appending(path: "store.quire~")
      try create(disk, url)
      let old = try content(disk, url)
      let identifier = try StoreSummary(of: url).identifier
      let report = try migrate(disk, url)
      #expect(report?.backup?.path() == backup.path())
      #expect(try content(disk, url).version == "two")
      #expect(try content(disk, backup) == old)
      #expect(try StoreSummary(of: backup).identifier == identifier)
      #expect(try StoreInspection(of: backup).findings == [])
      // Without a migration there is no backup.
      let before = try Data(contentsOf: backup)
      #expect(try migrate(disk, url) == nil)
      #expect(try Data(contentsOf: backup) == before)
      try migrate(disk, url, to: "three")
      #expect(try content(disk, backup).version == "two")
      let other = folder.appending(path: "elsewhere")
      try migrate(disk, url, to: "one", .copy(to: other))
      #expect(try content(disk, other).version == "three")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
      #expect(names.sorted() == ["elsewhere", "store.quire", "store.quire~"])
    }
  }

  @Test func `no file of somebody else is overwritten, and then nothing is migrated`() throws {
    try withTemporaryFolder { folder in
      let disk = DiskFileSystem()
      let url = folder.appending(path: "store.quire")
      try create(disk, url)
      let text = folder.appending(path: "text")
      try Data("not a store, and longer than a page's first bytes are".utf8).write(to: text)
      let stranger = folder.appending(path: "stranger")
      try create(disk, stranger)
      for place in [text, stranger, url] {
        let before = try Data(contentsOf: place)
        let error = error { try migrate(disk, url, .copy(to: place)) }
        #expect(error?.code == .migration)
        #expect(error?.message.contains("could not be backed up") == true)
        #expect(try Data(contentsOf: place) == before)
        #expect(try content(disk, url).version == "one")
      }
      // A backup that somebody has open stays, too.
      try migrate(disk, url)
      let backup = folder.appending(path: "store.quire~")
      try open(disk, backup, "one", [:]) { _, _ in
        let error = error { try migrate(disk, url, to: "three") }
        #expect(error?.code == .migration)
      }
      #expect(try content(disk, url).version == "two")
    }
  }

  @Test func `a disk that gets full while backing up stops the migration before it begins`() throws
  {
    let disk = SimulatedDisk()
    try create(disk)
    let old = try content(disk)
    let bytes = disk.files
    for room in [0, 100, 5_000, 20_000] {
      disk.limit(to: disk.byteCount + room)
      let error = error { try migrate(disk) }
      #expect(error?.code == .migration)
      #expect(error?.message.contains("not migrated and has its old version") == true)
      disk.heal()
      #expect(disk.files.filter { !$0.key.hasSuffix("-owner") } == bytes, "room for \(room)")
      #expect(try content(disk) == old)
    }
    try migrate(disk)
    #expect(try content(disk).version == "two")
    #expect(try content(disk, URL(filePath: Self.backupPath)) == old)
  }

  @Test func `a backup is whole on disk before the migration is true, wherever the process dies`()
    throws
  {
    let creation = SimulatedDisk()
    try create(creation)
    let old = try content(creation)
    let files = creation.files
    let whole = SimulatedDisk(files)
    try migrate(whole)
    var found: (old: Int, oldWithBackup: Int, new: Int) = (0, 0, 0)
    for operation in 0...whole.operationCount {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? migrate(disk)
      let images = disk.crashImages()
      let count = Amount.of(debug: 1, release: 4)
      for image in images.prefix(count) + images.suffix(count) {
        let after = SimulatedDisk(image)
        let state = try content(after)
        #expect(state.texts == old.texts)
        let hasBackup = image[Self.backupPath] != nil
        if hasBackup { #expect(try content(after, URL(filePath: Self.backupPath)) == old) }
        if state.version == "two" {
          #expect(hasBackup, "crash after \(operation)")
          found.new += 1
        } else if hasBackup {
          found.oldWithBackup += 1
        } else {
          found.old += 1
        }
        try migrate(after)
        #expect(try content(after).version == "two")
        #expect(try content(after, URL(filePath: Self.backupPath)) == old)
        #expect(!after.files.keys.contains { $0.contains("-new") } || state.version == "two")
      }
    }
    #expect(found.old > 0 && found.oldWithBackup > 0 && found.new > 0)
  }

  @Test func `when the migration fails the backup stays, and the next attempt replaces it`() throws
  {
    let creation = SimulatedDisk()
    try create(creation)
    let old = try content(creation)
    let files = creation.files
    let whole = SimulatedDisk(files)
    try migrate(whole)
    var stayed = 0
    for fault in SimulatedDisk.Fault.allCases {
      let step = Amount.of(debug: 3, release: 1)
      for operation in stride(from: 1, through: whole.operationCount, by: step) {
        let disk = SimulatedDisk(files)
        disk.fail(at: operation, with: fault)
        let failed = (try? migrate(disk)) == nil
        disk.heal()
        let after = SimulatedDisk(disk.files)
        if after.files[Self.backupPath] != nil {
          #expect(try content(after, URL(filePath: Self.backupPath)) == old)
          if failed { stayed += 1 }
        } else {
          #expect(try content(after) == old, "\(fault) at \(operation)")
        }
        try migrate(after)
        #expect(try content(after).version == "two")
      }
    }
    #expect(stayed > 0)
  }

  // MARK: Restoring

  @Test func `a backup is put back over a migrated, a damaged, a crashed and a missing store`()
    throws
  {
    try withTemporaryFolder { folder in
      let disk = DiskFileSystem()
      let url = folder.appending(path: "store.quire")
      let backup = folder.appending(path: "store.quire~")
      try create(disk, url)
      let old = try content(disk, url)
      let identifier = try StoreSummary(of: url).identifier
      try migrate(disk, url)
      func restore() throws {
        try PersistentStoreCoordinator.restorePersistentStore(at: url, fromBackupAt: backup)
        let restored = try content(disk, url)
        #expect(restored == old)
        #expect(try StoreInspection(of: url).findings == [])
        #expect(try StoreSummary(of: url).identifier == identifier)
        #expect(try StoreSummary(of: url).migrationHistory.isEmpty)
        #expect(try content(disk, backup) == old)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(names.sorted() == ["store.quire", "store.quire~"])
      }
      try restore()
      // It is a store to go on with.
      try migrate(disk, url, .none)
      #expect(try content(disk, url).version == "two")
      var bytes = try Data(contentsOf: url)
      for index in 4096..<bytes.count { bytes[index] ^= 0xFF }
      try bytes.write(to: url)
      #expect(throws: PersistenceError.self) { try content(disk, url) }
      try restore()
      // A crash leaves a log with commits that the backup knows nothing of.
      let pages = try PageStore.open(url.path())
      for round in 0..<20 { try pages.write { try $0.createRecordTree("rows/9\(round)") } }
      let copies = try ["", "-log"].map { try Data(contentsOf: URL(filePath: url.path() + $0)) }
      try pages.close()
      for (name, copy) in zip(["", "-log"], copies) {
        try copy.write(to: URL(filePath: url.path() + name))
      }
      try restore()
      try FileManager.default.removeItem(at: url)
      try copies[1].write(to: URL(filePath: url.path() + "-log"))
      try restore()
    }
  }

  @Test func `nothing is restored over an open store, another store or the backup itself`() throws {
    try withTemporaryFolder { folder in
      let disk = DiskFileSystem()
      let url = folder.appending(path: "store.quire")
      let backup = folder.appending(path: "store.quire~")
      let stranger = folder.appending(path: "stranger")
      try create(disk, url)
      try migrate(disk, url)
      try create(disk, stranger)
      func refusal(_ place: URL, from backup: URL = backup) throws -> String {
        let before = try Data(contentsOf: place)
        let error = error {
          try PersistentStoreCoordinator.restorePersistentStore(at: place, fromBackupAt: backup)
        }
        #expect(try Data(contentsOf: place) == before)
        return error.map { "\($0)" } ?? ""
      }
      #expect(try refusal(stranger).contains("is another store"))
      #expect(try refusal(backup).contains("is the backup itself"))
      try open(disk, url, "two", PersistentStoreOptions()) { context, _ in
        let text = try refusal(url)
        #expect(text.hasPrefix("error 134070"))
        #expect(text.contains("process"), "\(text)")
        let count = try context.count(for: FetchRequest<ManagedObject>(entityName: "Note"))
        #expect(count == 60)
      }
      // A damaged backup is found out, and no file stays behind.
      var bytes = try Data(contentsOf: backup)
      bytes[bytes.count - 100] ^= 1
      try bytes.write(to: backup)
      #expect(try refusal(url).contains("damaged"))
      #expect(try content(disk, url).version == "two")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
      #expect(names.sorted() == ["store.quire", "store.quire~", "stranger"])
    }
  }

  @Test func `a process that dies while restoring leaves the store or the backup's content`() throws
  {
    let creation = SimulatedDisk()
    try create(creation)
    let old = try content(creation)
    try migrate(creation)
    // Open, with commits in a log: what is restored over need not have been closed.
    var files = creation.files
    let pages = try PageStore.open("/store.quire", in: creation)
    for round in 0..<5 { try pages.write { try $0.createRecordTree("rows/9\(round)") } }
    files = creation.files
    try pages.close()
    files["/store.quire-owner"] = nil
    func restore(_ disk: SimulatedDisk) throws {
      try PersistentStoreCoordinator.restorePersistentStore(
        at: Self.url, fromBackupAt: URL(filePath: Self.backupPath), in: disk)
    }
    let whole = SimulatedDisk(files)
    try restore(whole)
    var found: (old: Int, new: Int) = (0, 0)
    for operation in 0...whole.operationCount {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? restore(disk)
      for image in disk.crashImages() {
        let state = try content(SimulatedDisk(image))
        #expect(state.texts == old.texts)
        if state.version == "one" { found.old += 1 } else { found.new += 1 }
        let again = SimulatedDisk(image)
        try restore(again)
        #expect(try content(again) == old)
      }
    }
    #expect(found.old > 0 && found.new > 0)
  }
}
