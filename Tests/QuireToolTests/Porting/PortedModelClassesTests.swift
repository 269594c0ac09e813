import Foundation
import QuireModel
import QuireTool
import Testing

/// Classes that Xcode writes at each build are files after the port.
@Suite struct PortedModelClassesTests {
  private static func model(_ kind: String) -> FolderPort.Model {
    var note = Entity("Note")
    note.managedObjectClassName = "Note"
    var text = AttributeDescription("text", .string)
    text.usesScalarValueType = true
    var count = AttributeDescription("count", .integer32)
    count.usesScalarValueType = true
    note.attributes = [text, count]
    return FolderPort.Model(
      path: "App/Notes.xcdatamodeld", entities: [note], codeGeneration: ["Note": kind])
  }

  @Test func `a whole class becomes a file beside its model, once`() {
    let texts = ["App/A.swift": "import CoreData\nlet note: Note? = nil\n"]
    let port = FolderPort(PortCase.files(texts), models: [Self.model("class")])
    let after = port.applied(to: texts)
    let file = after["App/Note+CoreDataClass.swift"] ?? ""
    #expect(
      file.contains("public class Note: NSManagedObject {\n  @Managed public var count: Int32"))
    #expect(file.contains("@Managed public var text: String?"))
    #expect(file.contains("public class func fetchRequest() -> NSFetchRequest<Note>"))
    #expect(!file.contains("@NSManaged") && !file.contains("@objc"))
    #expect(port.findings.isEmpty)
    let again = FolderPort(PortCase.files(after), models: [Self.model("class")])
    #expect(again.changes.isEmpty)
  }

  @Test func `properties of a class that is there move into it, but for those it has`() {
    let texts = [
      "App/Note.swift":
        "import CoreData\nclass Note: NSManagedObject {\n  @NSManaged var text: String?\n}\n"
    ]
    let port = FolderPort(PortCase.files(texts), models: [Self.model("category")])
    let after = port.applied(to: texts)
    #expect(after["App/Note.swift"]?.contains("@Managed public var count: Int32") == true)
    #expect(after["App/Note.swift"]?.components(separatedBy: "var text").count == 2)
    let again = FolderPort(PortCase.files(after), models: [Self.model("category")])
    #expect(again.changes.isEmpty)
  }
}
