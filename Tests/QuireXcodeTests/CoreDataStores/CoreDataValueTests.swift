import Foundation
import QuireModel
import QuireXcode
import Testing

@Suite struct CoreDataValueTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    arguments: [
      (.integer16, -7, .integer(-7)),
      (.integer64, 9_007_199_254_740_993, .integer(9_007_199_254_740_993)),
      (.boolean, 1, .boolean(true)), (.boolean, 0, .boolean(false)),
      (.double, 0.1, .double(0.1)), (.double, 3, .double(3)),
      (.float, 1.3300000429153442, .float(1.33)),
      (.decimal, 12, .decimal(12)), (.decimal, 0.1, .decimal(Decimal(string: "0.1")!)),
      (.decimal, "NaN", .decimal(.nan)),
      (
        .decimal, "12345678901234567890.123456789",
        .decimal(Decimal(string: "12345678901234567890.123456789")!)
      ),
      (.decimal, "-1.5e-20", .decimal(Decimal(string: "-1.5e-20")!)),
      (.date, 0, .date(Date(timeIntervalSince1970: 978_307_200))),
      (.date, -0.25, .date(Date(timeIntervalSinceReferenceDate: -0.25))),
      (.string, "", .string("")), (.string, "日本", .string("日本")),
      (.binaryData, .blob(Data([1, 2])), .binary(Data([1, 2]))),
      (.transformable, .blob(Data([0xFF, 0xD8])), .transformed(Data([0xFF, 0xD8]))),
      (
        .uuid, .blob(Data(0..<16)),
        .uuid(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")!)
      ),
      (.uri, "https://a.b/c?d=e", .uri(URL(string: "https://a.b/c?d=e")!)),
      (
        .objectID, "x-coredata://STORE/Item/p3",
        .objectID(URL(string: "x-coredata://STORE/Item/p3")!)
      ),
      (.undefined, "as it is", .string("as it is")),
    ] as [(AttributeType, SQLiteValue, AttributeValue)])
  func `a value is read as its attribute's type, however SQLite stored it`(
    type: AttributeType, stored: SQLiteValue, expected: AttributeValue
  ) throws {
    let (objects, report) = try read(type, stored)
    #expect(objects[0].attributes["value"] == expected)
    #expect(report.isComplete)
  }

  @Test(
    arguments: [
      (.integer16, 70000), (.integer32, "x"), (.decimal, "12abc"), (.decimal, "1e400"),
      (.uuid, .blob(Data([1, 2, 3]))), (.date, .blob(Data())), (.string, .blob(Data([65]))),
    ] as [(AttributeType, SQLiteValue)])
  func `a value that is not of its type is left out and reported`(
    type: AttributeType, stored: SQLiteValue
  ) throws {
    let (objects, report) = try read(type, stored)
    #expect(objects[0].attributes.isEmpty)
    #expect(report.unreadableValues.map(\.attribute) == ["value"])
    #expect(report.unreadableValues.map(\.key) == [5])
    #expect("\(report)".contains("Item 5.value is"))
  }

  @Test func `a required value that is missing is counted`() throws {
    let model = try ManagedObjectModel {
      Entity("Item") { Attribute("value", .string, optional: false) }
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    writer.addTable("ZITEM", ["ZVALUE VARCHAR"], [(1, 1, [nil]), (2, 1, [nil]), (3, 1, ["x"])])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects.map { $0.attributes.count } == [0, 0, 1])
    #expect(report.missingRequiredValues == ["Item.value": 2])
  }

  @Test func `transient attributes have no column and no value`() throws {
    let model = try ManagedObjectModel {
      Entity("Item") {
        Attribute("value", .string)
        Attribute("cached", .string, transient: true)
      }
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    writer.addTable("ZITEM", ["ZVALUE VARCHAR"], [(1, 1, ["x"])])
    let (objects, _) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects[0].attributes == ["value": "x"])
  }

  @Test func `a composite attribute is put together from its columns`() throws {
    var point = AttributeDescription("point", .composite)
    point.elements = [Attribute("x", .double), Attribute("y", .double)]
    var home = AttributeDescription("home", .composite)
    home.elements = [Attribute("city", .string), point]
    let model = try ManagedObjectModel { Entity("Item") { home } }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    writer.addTable(
      "ZITEM", ["ZHOME_CITY VARCHAR", "ZHOME_POINT_X FLOAT", "ZHOME_POINT_Y FLOAT"],
      [(1, 1, ["Basel", 1.5, nil]), (2, 1, [nil, nil, nil])])
    let (objects, _) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(
      objects[0].attributes["home"]
        == .composite(["city": "Basel", "point": .composite(["x": 1.5])]))
    #expect(objects[1].attributes.isEmpty)
  }

  @Test func `external values are read from inside the row or from their files`() throws {
    let model = try externalModel()
    let file = "2D3B1F1E-6E4F-4A59-8B1C-7C6A2F9B1D10"
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    writer.addTable(
      "ZITEM", ["ZVALUE BLOB"],
      [
        (1, 1, [.blob(Data([1, 65, 66]))]), (2, 1, [.blob(Data([2]) + Data((file + "\0").utf8))]),
        (3, 1, [.blob(Data())]), (4, 1, [.blob(Data([9, 9]))]),
      ])
    try folder.write("from the file", to: ".Test_SUPPORT/_EXTERNAL_DATA/\(file)")
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(
      objects.map { $0.attributes["value"] } == [
        .binary(Data([65, 66])), .binary(Data("from the file".utf8)), .binary(Data()),
        .binary(Data([9, 9])),
      ])
    #expect(report.isComplete)
  }

  @Test func `an external file that is missing is reported, one outside the folder never opened`()
    throws
  {
    let model = try externalModel()
    let file = "2D3B1F1E-6E4F-4A59-8B1C-7C6A2F9B1D10"
    try folder.write("secret", to: "secret")
    let outside = Data([2]) + Data("../../secret".utf8)
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    writer.addTable(
      "ZITEM", ["ZVALUE BLOB"],
      [(1, 1, [.blob(Data([2]) + Data(file.utf8))]), (2, 1, [.blob(outside)])])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects[0].attributes["value"] == nil)
    #expect(objects[1].attributes["value"] == .binary(outside))
    #expect(report.missingFiles.map(\.key) == [1])
    #expect(report.missingFiles[0].file.hasSuffix(".Test_SUPPORT/_EXTERNAL_DATA/\(file)"))
  }

  private func externalModel() throws -> ManagedObjectModel {
    var value = AttributeDescription("value", .binaryData)
    value.allowsExternalBinaryDataStorage = true
    return try ManagedObjectModel { Entity("Item") { value } }
  }

  private func read(
    _ type: AttributeType, _ stored: SQLiteValue
  ) throws -> ([CoreDataObject], ImportReport) {
    let model = try ManagedObjectModel { Entity("Item") { Attribute("value", type) } }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item")
    // Without a declared type, so that one column may be that of any attribute.
    writer.addTable("ZITEM", ["ZVALUE"], [(5, 1, [stored])])
    return try writer.store(in: folder).contents(of: model).readAll()
  }
}
