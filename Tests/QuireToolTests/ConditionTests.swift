import Foundation
import Quire
import QuireModel
import QuireTool
import Testing

/// Conditions as people type them: objects by their IDs, dates, numbers of 38 digits.
@Suite struct ConditionTests {
  private static let model = try! ManagedObjectModel {
    Entity("Owner") {
      Attribute("name", .string)
      Relationship("papers", toMany: "Paper", inverse: "owner")
    }
    Entity("Paper") {
      Attribute("title", .string)
      Attribute("signed", .date)
      Attribute("sum", .decimal)
      Attribute("weight", .double)
      Relationship("owner", toOne: "Owner", inverse: "papers")
    }
    Entity("Letter", parent: "Paper") { Attribute("stamp", .string) }
  }

  private static let moments = [
    "2024-04-30T23:59:59Z", "2024-05-01T00:00:00Z", "2024-05-01T10:30:00Z", "2024-05-01T12:30:00Z",
    "2024-05-02T00:00:00.5Z",
  ]
  private static let sums = [
    "12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678",
    "0.1", "-99999999999999999999999999999999999999", "3",
  ]

  /// A store with a paper for each moment and sum, the last of them a letter.
  private struct Archive {
    let folder = try! TemporaryFolder()
    var path: String { folder.path("archive.quire") }
    let identifier: UUID

    init() throws {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: ConditionTests.model)
      let store = try coordinator.addPersistentStore(
        type: .quire, at: URL(filePath: folder.path("archive.quire")))
      identifier = store.identifier
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = coordinator
      let owner = try EntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      for (index, moment) in ConditionTests.moments.enumerated() {
        let paper = try EntityDescription.insertNewObject(
          forEntityName: index == 4 ? "Letter" : "Paper", into: context)
        try paper.setValue("paper \(index + 1)", forKey: "title")
        try paper.setValue(MomentText.date(of: moment), forKey: "signed")
        try paper.setValue(DecimalParts(text: ConditionTests.sums[index])?.decimal, forKey: "sum")
        try paper.setValue(0.1234567890123456789, forKey: "weight")
        if index < 2 { try paper.setValue(owner, forKey: "owner") }
        try context.save()
      }
      try coordinator.remove(store)
    }

    func query(_ condition: String, entity: String = "Paper") -> ToolRun {
      ToolRun(
        "query", path, "--entity", entity, "--where", condition, "--columns", "title", "--format",
        "csv")
    }

    /// The numbers of the papers that a condition is true of.
    func papers(_ condition: String) -> [Int] {
      let run = query(condition)
      #expect(run.code == .good && run.errors.isEmpty, "\(condition): \(run.errors)")
      return run.lines.dropFirst().compactMap { $0.last.flatMap { Int("\($0)") } }.sorted()
    }
  }

  // MARK: Objects

  @Test func `an object is found by its ID in every form, also of a subentity`() throws {
    let archive = try Archive()
    let uri = "x-coredata://\(archive.identifier.uuidString)/Paper/p2"
    for name in [
      "\"Paper/p2\"", "'Paper/2'", "Paper/p2", "Paper/2", "\"\(uri)\"", "'#/object/Paper/2'",
      "'archive.html#/object/Paper/p2?filter=x'",
    ] {
      #expect(archive.papers("objectID == \(name)") == [2], "\(name)")
      #expect(archive.papers("SELF == \(name)") == [2], "\(name)")
      #expect(archive.papers("\(name) == objectID") == [2], "\(name)")
      #expect(archive.papers("owner.papers CONTAINS \(name)") == [1, 2], "\(name)")
    }
    #expect(archive.papers("SELF IN {Paper/1, 'Letter/1', \"Paper/5\"}").count == 2)
    #expect(archive.papers("owner == Owner/1") == [1, 2])
    #expect(archive.papers("owner != 'Owner/p1'") == [3, 4, 5])
    #expect(archive.papers("ANY owner.papers == Paper/1") == [1, 2])
    #expect(archive.papers("SUBQUERY(owner.papers, $x, $x == Paper/1).@count > 0") == [1, 2])
    #expect(archive.papers("NOT (objectID == Paper/1 OR SELF == Paper/2)") == [3, 4, 5])
    // An object that is not there is no mistake, and found nowhere.
    #expect(archive.papers("objectID == Paper/999") == [])
    // Texts stay texts.
    #expect(archive.papers("title == 'Paper/1'") == [])
  }

  @Test(arguments: [
    ("objectID == 'p2'", "“p2” is no object: an object is called such as Artwork/12"),
    ("objectID == 2", "2 is no object: an object is called such as Artwork/12"),
    ("owner == 'Papr/2'", "the store has no entity Papr; did you mean Paper?"),
    ("owner == Paper/2", "Paper/p2 is an object of Paper, and never one of Owner"),
    (
      "objectID == 'x-coredata://4DB1F7F2-0000-4000-8000-000000000000/Paper/p2'",
      "Paper/p2 is an object of the store 4DB1F7F2-0000-4000-8000-000000000000, and this one is "
    ),
  ])
  func `a condition with an invalid object ID is refused with the reason`(
    condition: String, message: String
  ) throws {
    let run = try Archive().query(condition)
    #expect(run.code == .bad && run.output.isEmpty)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test func `an object is printed whole by its ID`() throws {
    let archive = try Archive()
    for name in ["Paper/1", "Paper/p1", "archive.html#/object/Paper/1"] {
      let run = ToolRun("get", archive.path, name)
      #expect(run.code == .good && run.errors.isEmpty)
      #expect(
        run.output == """
          Paper/p1
          title   paper 1
          signed  2024-04-30T23:59:59Z
          sum     12345678901234567890123456789012345678
          weight  0.12345678901234568
          owner   Owner/p1

          """)
    }
    let owner = ToolRun("get", archive.path, "Owner/1")
    #expect(
      owner.lines.contains("papers  Paper/p1, Paper/p2") && owner.lines.contains("name    nil"))
    // As a dump has it.
    let json = ToolRun("get", archive.path, "Owner/1", "--json")
    let dumped = ToolRun("dump", archive.path, "--entity", "Owner")
    #expect(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? NSDictionary
        == JSONSerialization.jsonObject(with: Data(dumped.output.utf8)) as? NSDictionary)
    for (name, message) in [
      ("Paper/99", "there is no object Paper/99 in the store"), ("Paper", "“Paper” is no object"),
      ("Paper/p+1", "“Paper/p+1” is no object"), ("Paper/0", "“Paper/0” is no object"),
      ("Papr/1", "did you mean Paper?"),
    ] {
      let run = ToolRun("get", archive.path, name)
      #expect(run.code == .bad && run.output.isEmpty && run.errors.contains(message))
    }
  }

  // MARK: Dates

  @Test(arguments: [
    ("2024-05-01", [3, 4, 5]), ("2024-5-1", [3, 4, 5]), ("2024-05-01 10:30", [4, 5]),
    ("2024-05-01 10:29:59.5", [3, 4, 5]), ("2024-05-01 12:30 +02:00", [4, 5]),
    ("2024-05-01T12:30+0200", [4, 5]), ("2024-05-01 12:30+02", [4, 5]),
    ("2024-05-01T10:30Z", [4, 5]), ("2024-05-01T10:30:00 UTC", [4, 5]),
    ("2024-05-01T12:30:00Z", [5]), ("2024-05-02", [5]), ("2024-05-03", []),
  ])
  func `a date is read as people write it, with and without quotation marks`(
    date: String, papers: [Int]
  ) throws {
    let archive = try Archive()
    #expect(archive.papers("signed > \"\(date)\"") == papers)
    #expect(archive.papers("signed > '\(date)'") == papers)
    #expect(archive.papers("signed > \(date)") == papers)
    #expect(archive.papers("\(date) < signed AND title != '2024-05-01 10:30'") == papers)
  }

  @Test func `dates stand wherever a moment is compared`() throws {
    let archive = try Archive()
    #expect(archive.papers("signed BETWEEN {2024-05-01, '2024-05-01 12:00'}") == [2, 3])
    #expect(archive.papers("signed IN {2024-05-01, 2024-05-01 12:30}") == [2, 4])
    #expect(archive.papers("signed - 3600 > 2024-05-01 10:30") == [4, 5])
    #expect(archive.papers("ANY owner.papers.signed == 2024-05-01") == [1, 2])
    #expect(archive.papers("owner.papers.@max.signed == 2024-05-01") == [1, 2])
    // A difference of numbers is one still.
    #expect(archive.papers("sum == 2024-05-01 - 2015") == [5])
    let edit = ToolRun(
      "edit", archive.path, "--do",
      #"set Paper where "signed > 2024-05-02" signed="2024-05-03 8:15""#)
    #expect(edit.code == .good, "\(edit.errors)")
    #expect(archive.papers("signed == 2024-05-03 08:15") == [5])
  }

  @Test(arguments: [
    ("'01/05/2024'", "may be more than one day: write the year first, as 2024-05-31"),
    ("01/05/2024", "may be more than one day: write the year first, as 2024-05-31"),
    ("'1.5.2024'", "may be more than one day"), ("'24-05-01'", "may be more than one day"),
    ("'2024-02-30'", "is in no calendar"), ("2024-13-01", "is in no calendar"),
    ("2024-05-01 25:00", "is in no calendar or on no clock"), ("'May'", "is no date: write"),
    ("'2024-05-01 12:30 CET'", "or on no clock"),
    ("2024", "a date is compared with 2024. Write a day, as 2024-01-31"),
  ])
  func `an ambiguous date is refused with advice`(date: String, message: String) throws {
    let run = try Archive().query("signed > \(date)")
    #expect(run.code == .bad && run.output.isEmpty)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test func `a mistake behind a date is shown in its column`() throws {
    let run = try Archive().query("signed > 2024-05-01 12:30 AND sum >")
    #expect(run.errors.contains("at column 36, but found the end"), "\(run.errors)")
    #expect(run.errors.contains("\n  signed > 2024-05-01 12:30 AND sum >\n"))
  }

  // MARK: Numbers

  @Test func `decimals keep their 38 digits through the tool`() throws {
    let archive = try Archive()
    for (index, sum) in Self.sums.enumerated() {
      #expect(archive.papers("sum == \(sum)") == [index + 1])
      #expect(archive.papers("sum IN {\(sum)}") == [index + 1])
      let row = ToolRun("get", archive.path, index == 4 ? "Paper/5" : "Paper/\(index + 1)")
      #expect(row.lines.contains("sum     \(sum)"))
    }
    #expect(archive.papers("sum > 0.12345678901234567890123456789012345677 AND sum < 1") == [2])
    #expect(archive.papers("sum > 0.12345678901234567890123456789012345678 AND sum < 1") == [])
    // Where a double is compared, the digits are those of a double.
    #expect(archive.papers("weight == 0.12345678901234567890123456789").count == 5)
    let more = "0.98765432109876543210987654321098765432"
    let edit = ToolRun("edit", archive.path, "--do", "set Paper/3 sum=\(more)")
    #expect(edit.code == .good && edit.output.contains("\"0.1\" → \"\(more)\""), "\(edit.output)")
    #expect(
      ToolRun("edit", archive.path, "--do", "set Paper/3 sum=\(more)9").errors.contains(
        "sum is a number of up to 38 digits"))
    // No digit is lost in silence.
    let condition = archive.query("sum == \(more)99")
    #expect(condition.code == .bad && condition.errors.contains("with at most 38 digits"))
    // In and out by JSON, as a number and as a text.
    let file = archive.folder.path("in.jsonl")
    let lines = [more, "\"\(more)\"", Self.sums[0], Self.sums[3], "19.99"].enumerated().map {
      #"{"entity":"Paper","id":"\#($0)","title":"loaded \#($0 + 5)","sum":\#($1),"weight":\#(more)}"#
    }
    try lines.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
    try #"{"entity":"Paper","id":"1","title":"\"9\\","sum":\#(more)99}"#.write(
      toFile: archive.folder.path("long.jsonl"), atomically: false, encoding: .utf8)
    let long = ToolRun("load", archive.folder.path("long.jsonl"), "--to", archive.path)
    #expect(long.code == .bad)
    #expect(long.errors.contains("long.jsonl, line 1: \(more)99 has more digits"), "\(long.errors)")
    let load = ToolRun("load", file, "--to", archive.path)
    #expect(load.code == .good, "\(load.errors)")
    #expect(archive.papers("sum == \(more)") == [3, 5, 6])
    #expect(archive.papers("sum == 19.99") == [9])
    #expect(archive.papers("weight == \(more)") == [5, 6, 7, 8, 9])
    let out = archive.folder.path("out")
    #expect(ToolRun("export", archive.path, "--to", out).code == .good)
    let text = try String(contentsOfFile: out + "/Paper.jsonl", encoding: .utf8)
    for sum in Self.sums.prefix(2) + [more] { #expect(text.contains("\"sum\":\"\(sum)\"")) }
  }
}
