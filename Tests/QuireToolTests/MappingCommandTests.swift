import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

/// `quire migrate --mapping`, with a model of notes that become memos.
@Suite struct MappingCommandTests {
  private let folder: TemporaryFolder
  private let store: String
  private let model: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("notes.quire")
    model = folder.path("Notes.xcdatamodeld")
    for (version, entity, attribute) in [("Notes", "Note", "text"), ("Notes 2", "Memo", "body")] {
      try write(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="\(entity)" syncable="YES">
            <attribute name="\(attribute)" optional="YES" attributeType="String"/>
          </entity>
        </model>
        """, "\(model)/\(version).xcdatamodel/contents")
    }
  }

  private func write(_ text: String, _ path: String) throws {
    let url = URL(filePath: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func mapping(policy: String? = nil) throws -> String {
    let path = folder.path("Notes.xcmappingmodel")
    let line = policy.map { #"<attribute name="migrationpolicyclassname">\#($0)</attribute>"# }
    try write(
      """
      <?xml version="1.0" standalone="yes"?>
      <database>
        <object type="XDDEVMAPPINGMODEL" id="z1">
          <relationship name="entitymappings" idrefs="z2"></relationship>
        </object>
        <object type="XDDEVENTITYMAPPING" id="z2">
          <attribute name="sourcename" type="string">Note</attribute>
          <attribute name="destinationname" type="string">Memo</attribute>
          <relationship name="attributemappings" idrefs="z3"></relationship>
          \(line ?? "")
        </object>
        <object type="XDDEVATTRIBUTEMAPPING" id="z3">
          <attribute name="name" type="string">body</attribute>
          <attribute name="valueexpression" type="string">uppercase:($source.text)</attribute>
        </object>
      </database>
      """, "\(path)/xcmapping.xml")
    return path
  }

  private func bodies(_ entity: String, _ key: String) throws -> [String?] {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try PersistentStoreCoordinator.managedObjectModel(
        storedAt: URL(filePath: store)))
    let opened = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: store))
    defer { try? coordinator.remove(opened) }
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    if key == "text", try context.count(for: FetchRequest<ManagedObject>(entityName: entity)) == 0 {
      let note = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
      try note.setValue("buy milk", forKey: key)
      try context.save()
    }
    return try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map {
      try $0.value(forKey: key) as? String
    }
  }

  /// A store of the first version with one note.
  private func fill() throws {
    let first = try ManagedObjectModel { Entity("Note") { Attribute("text", .string) } }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: first)
    try coordinator.remove(
      try coordinator.addPersistentStore(type: .quire, at: URL(filePath: store)))
    #expect(try bodies("Note", "text") == ["buy milk"])
  }

  @Test func `a mapping model is carried out in place, after a backup`() throws {
    try fill()
    let mapping = try mapping()
    let before = try Data(contentsOf: URL(filePath: store))
    let dry = ToolRun("migrate", store, "--model", model, "--mapping", mapping, "--dry-run")
    #expect(dry.code == .good, "\(dry.errors)")
    #expect(dry.output.contains("NoteToMemo  Note  Memo"), "\(dry.output)")
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
    let backup = folder.path("backup.quire")
    let run = ToolRun(
      "migrate", store, "--model", model, "--mapping", mapping, "--backup", backup, "--json")
    #expect(run.code == .good, "\(run.errors)")
    #expect(try run.json()["isMigrated"] as? Bool == true)
    #expect(try bodies("Memo", "body") == ["BUY MILK"])
    #expect(try ToolRun("stat", store, "--json").json()["modelVersion"] as? String == "Notes 2")
    #expect(ToolRun("check", store).code == .good)
    let again = ToolRun("migrate", store, "--model", model, "--mapping", mapping)
    #expect(again.output == "\(store) has version Notes 2: nothing to do.\n")
    #expect(ToolRun("restore", backup, "--to", store).code == .good)
    #expect(try bodies("Note", "text") == ["buy milk"])
  }

  @Test func `a mapping that needs a policy is refused with its name`() throws {
    try fill()
    let mapping = try mapping(policy: "Notes.MemoPolicy")
    let before = try Data(contentsOf: URL(filePath: store))
    for option in [[], ["--dry-run"]] {
      let run = ToolRun(["migrate", store, "--model", model, "--mapping", mapping] + option)
      #expect(run.code != .good)
      #expect(run.errors.contains("NoteToMemo needs Notes.MemoPolicy"), "\(run.errors)")
    }
    #expect(try Data(contentsOf: URL(filePath: store)) == before)
  }

  @Test func `a mapping that cannot be read is an error that names the file`() throws {
    try fill()
    let path = folder.path("Broken.cdm")
    try write("bplist00 and so on", path)
    let run = ToolRun("migrate", store, "--model", model, "--mapping", path)
    #expect(run.code != .good)
    #expect(run.errors.contains(path) && run.errors.contains("ends too early"), "\(run.errors)")
  }
}
