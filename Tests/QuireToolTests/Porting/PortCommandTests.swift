import Foundation
import QuireTool
import Testing

@Suite struct PortCommandTests {
  private static let properties = """
    import CoreData

    extension Trip {
      @NSManaged var name: String?
    }

    """
  private static let texts = [
    "App/Trip.swift": "import CoreData\n\nclass Trip: NSManagedObject {}\n",
    "App/Deep/Trip+Properties.swift": properties, "App/Other.swift": "let a = 1\n",
  ]
  private static let ported = [
    "App/Trip.swift":
      "import Foundation\nimport QuireCoreData\n\nclass Trip: NSManagedObject {\n"
      + "  @Managed var name: String?\n}\n",
    "App/Other.swift": "let a = 1\n",
  ]

  @Test func `JSON has the names of files, and what is left to do`() throws {
    let folder = try TemporaryFolder()
    try write(
      Self.texts.merging(["App/View.swift": "import CoreData\nimport SwiftUI\n"]) { $1 }, to: folder
    )
    let shown = ToolRun("port", folder.path("App"), "--json")
    let json = try shown.json()
    #expect(shown.code == .good && json["isWritten"] as? Bool == false)
    #expect(json["files"] as? Int == 4)
    #expect(json["changed"] as? [String] == ["Trip.swift", "View.swift"])
    #expect(json["removed"] as? [String] == ["Deep/Trip+Properties.swift"])
    #expect(json["new"] as? [String] == [] && (json["failures"] as? [Any])?.isEmpty == true)
    let finding = try #require((json["findings"] as? [[String: Any]])?.first)
    #expect(finding["file"] as? String == "View.swift" && finding["lines"] as? [Int] == [2])
    #expect(finding["what"] as? String == "import SwiftUI")
    #expect((finding["remedy"] as? String)?.isEmpty == false)
    #expect(try contents(folder)["App/Trip.swift"] == Self.texts["App/Trip.swift"])
    let written = try ToolRun("port", folder.path("App"), "--json", "--write").json()
    #expect(written["isWritten"] as? Bool == true)
    // Behind the import of Foundation that the port adds.
    #expect((written["findings"] as? [[String: Any]])?.first?["lines"] as? [Int] != nil)
    #expect(try contents(folder)["App/Trip.swift"] == Self.ported["App/Trip.swift"])
  }

  private func write(_ texts: [String: String], to folder: TemporaryFolder) throws {
    for (path, text) in texts {
      let file = URL(filePath: folder.path(path))
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
  }

  /// All Swift files and other files, without folders and links.
  private func contents(_ folder: TemporaryFolder) throws -> [String: String] {
    var texts: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let type = try FileManager.default.attributesOfItem(atPath: folder.path(path))[.type]
      if type as? FileAttributeType == .typeRegular {
        texts[path] = try String(contentsOfFile: folder.path(path), encoding: .utf8)
      }
    }
    return texts
  }

  @Test func `without --write the difference is shown and nothing changes`() throws {
    let folder = try TemporaryFolder()
    try write(Self.texts, to: folder)
    let run = ToolRun("port", folder.path)
    #expect(run.code == .good)
    #expect(try contents(folder) == Self.texts)
    #expect(
      run.output == """
        --- a/App/Deep/Trip+Properties.swift
        +++ /dev/null
        @@ -1,5 +0,0 @@
        -import CoreData
        -
        -extension Trip {
        -  @NSManaged var name: String?
        -}
        --- a/App/Trip.swift
        +++ b/App/Trip.swift
        @@ -1,3 +1,6 @@
        -import CoreData
        +import Foundation
        +import QuireCoreData
         
        -class Trip: NSManagedObject {}
        +class Trip: NSManagedObject {
        +  @Managed var name: String?
        +}

        """)
    #expect(
      run.errors == "note: 1 of 3 files to change, 1 removed; --write changes them\n")
  }

  @Test func `with --write files change, once`() throws {
    let folder = try TemporaryFolder()
    try write(Self.texts, to: folder)
    let trip = folder.path("App/Trip.swift")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: trip)
    let other = try FileManager.default.attributesOfItem(atPath: folder.path("App/Other.swift"))
    let run = ToolRun("port", folder.path, "--write")
    #expect(run.code == .good && run.output.isEmpty)
    #expect(run.errors == "note: 1 of 3 files changed, 1 removed\n")
    #expect(try contents(folder) == Self.ported)
    let mode = try FileManager.default.attributesOfItem(atPath: trip)[.posixPermissions]
    #expect(mode as? Int == 0o640)
    let same = try FileManager.default.attributesOfItem(atPath: folder.path("App/Other.swift"))
    #expect(same[.systemFileNumber] as? UInt64 == other[.systemFileNumber] as? UInt64)

    let again = ToolRun("port", folder.path, "--write")
    #expect(again.code == .good && again.errors == "note: 0 of 2 files changed\n")
    #expect(try contents(folder) == Self.ported)
  }

  @Test func `findings are printed with file and line, and are no failure`() throws {
    let folder = try TemporaryFolder()
    try write(["List.swift": "import CoreData\nimport UIKit\n"], to: folder)
    let run = ToolRun("port", folder.path)
    #expect(run.code == .good)
    #expect(run.output.contains("\n\nList.swift:2: import UIKit: left as it is"))
    #expect(run.errors.hasSuffix("; --write changes them. 1 place to look at\n"))
    let written = ToolRun("port", folder.path, "--write")
    #expect(written.output.hasPrefix("List.swift:3: import UIKit: left as it is"))
  }

  @Test func `a file that cannot be taken apart is an error, and others are written`() throws {
    let folder = try TemporaryFolder()
    try write(["A.swift": "import CoreData\n", "B.swift": "import CoreData\n}\n"], to: folder)
    let run = ToolRun("port", folder.path, "--write")
    #expect(run.code == .bad)
    #expect(
      run.errors.contains(
        "quire: B.swift: line 2: a bracket closes none; the file is left as it is\n"))
    #expect(
      try contents(folder) == [
        "A.swift": "import Foundation\nimport QuireCoreData\n", "B.swift": "import CoreData\n}\n",
      ])
  }

  @Test func `port refuses a path that is no folder, and accepts an empty folder`() throws {
    let folder = try TemporaryFolder()
    #expect(ToolRun("port", folder.path).errors == "note: 0 of 0 files to change\n")
    try write(["A.swift": "let a = 1\n"], to: folder)
    for path in [folder.path("nothing"), folder.path("A.swift")] {
      let run = ToolRun("port", path, "--write")
      #expect(run.code == .bad && run.errors.contains(path))
    }
  }

  @Test func `links, hidden folders and other people's code are left out`() throws {
    let folder = try TemporaryFolder()
    let outside = try TemporaryFolder()
    let text = "import CoreData\n"
    let texts = [
      ".build/A.swift": text, "Pods/B.swift": text, "C.txt": text, "Carthage/D.swift": text,
    ]
    try write(texts, to: folder)
    try write(["E.swift": text, "F/G.swift": text], to: outside)
    let links = [("E.swift", "E.swift"), ("F", "F"), ("nothing.swift", "nothing.swift")]
    for (name, target) in links {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(name), withDestinationPath: outside.path(target))
    }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("round"), withDestinationPath: folder.path)
    let run = ToolRun("port", folder.path, "--write")
    #expect(run.code == .good)
    #expect(run.errors.contains("note: E.swift is a symbolic link: it is left out\n"))
    #expect(run.errors.contains("note: Pods is left out\n"))
    #expect(run.errors.hasSuffix("note: 0 of 0 files changed\n"))
    #expect(try contents(folder) == texts)
    #expect(try contents(outside) == ["E.swift": text, "F/G.swift": text])

    // The folder itself may be one.
    let link = try TemporaryFolder()
    try write(Self.texts, to: outside)
    try FileManager.default.createSymbolicLink(
      atPath: link.path("App"), withDestinationPath: outside.path("App"))
    #expect(ToolRun("port", link.path("App"), "--write").code == .good)
    #expect(try contents(outside)["App/Trip.swift"] == Self.ported["App/Trip.swift"])
  }

  @Test func `a file that changed since it was read stops the command before it writes`() throws {
    let folder = try TemporaryFolder()
    try write(Self.texts, to: folder)
    let read = try SourceFolder(path: folder.path)
    let changes = FolderPort(read.files).changes
    try write(["App/Trip.swift": "// mine\n"], to: folder)
    let error = #expect(throws: (any Error).self) { try read.write(changes) }
    #expect(
      "\(error.map { "\($0)" } ?? "")".contains("App/Trip.swift has changed since it was read"))
    #expect(
      try contents(folder) == Self.texts.merging(["App/Trip.swift": "// mine\n"]) { $1 })
  }

  @Test func `a file that is there is not replaced by the file of names`() throws {
    let folder = try TemporaryFolder()
    let texts = ["A.swift": "import CoreData\nlet p = NSPredicate(value: true)\n"]
    try write(texts, to: folder)
    let read = try SourceFolder(path: folder.path)
    let changes = FolderPort(read.files).changes
    try write(["CoreDataNames.swift": "// mine\n"], to: folder)
    #expect(throws: (any Error).self) { try read.write(changes) }
    #expect(try contents(folder) == texts.merging(["CoreDataNames.swift": "// mine\n"]) { $1 })
  }

  // The superuser may write everything.
  @Test(.enabled(if: geteuid() != 0, "needs a user who is not root"))
  func `a folder that cannot be written is found out before anything is written`() throws {
    let folder = try TemporaryFolder()
    try write(Self.texts, to: folder)
    let deep = folder.path("App/Deep")
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: deep)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: deep) }
    let run = ToolRun("port", folder.path, "--write")
    #expect(run.code == .bad && run.errors.contains("App/Deep cannot be written"))
    #expect(try contents(folder) == Self.texts)
  }
}
