import Foundation
import QuireModel
import QuireXcode
import Testing

@Suite struct CoreDataRelationshipTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `the many side of a one-to-many follows from the one side, in the stored order`()
    throws
  {
    let model = try ManagedObjectModel {
      Entity("Folder") {
        Relationship("children", toMany: "Folder", inverse: "parent", ordered: true)
        Relationship("parent", toOne: "Folder", inverse: "children")
      }
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Folder")
    // Key 3 before 2 by its place; 5 and 4 tie and go by key; 6 has no place and comes last.
    writer.addTable(
      "ZFOLDER", ["ZPARENT INTEGER", "Z_FOK_PARENT INTEGER"],
      [
        (1, 1, [nil, nil]), (2, 1, [1, 4096]), (3, 1, [1, 2048]), (4, 1, [1, 6144]),
        (5, 1, [1, 6144]), (6, 1, [1, nil]),
      ])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects.keys("Folder", 1, toMany: "children") == [3, 2, 4, 5, 6])
    #expect(objects.key("Folder", 2, toOne: "parent") == 1)
    #expect(objects[0].toOne.isEmpty && objects[1].toMany.isEmpty)
    #expect(report.linkCounts == ["Folder.children": 5, "Folder.parent": 5])
  }

  @Test func `a join table is found under either side, with numbers behind its columns`() throws {
    let model = try ManagedObjectModel {
      Entity("Album") { Relationship("songs", toMany: "Song", inverse: "albums", ordered: true) }
      Entity("Song") { Relationship("albums", toMany: "Album", inverse: "songs") }
    }
    for (name, columns) in [
      ("Z_1SONGS", ["Z_1ALBUMS", "Z_2SONGS", "Z_FOK_2SONGS"]),
      ("Z_2ALBUMS", ["Z_1ALBUMS3", "Z_2SONGS2", "Z_FOK_2SONGS"]),
    ] {
      var writer = CoreDataStoreWriter()
      writer.addEntity(1, "Album")
      writer.addEntity(2, "Song")
      writer.addTable("ZALBUM", [], [(1, 1, []), (2, 1, [])])
      writer.addTable("ZSONG", [], [(1, 2, []), (2, 2, [])])
      writer.addJoinTable(name, columns, [[1, 1, 20], [1, 2, 10], [2, 2, 5], [2, 7, 6]])
      let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
      #expect(objects.keys("Album", 1, toMany: "songs") == [2, 1])
      #expect(objects.keys("Song", 2, toMany: "albums") == [1, 2])
      #expect(report.linkCounts == ["Album.songs": 3, "Song.albums": 3])
      #expect(
        report.danglingReferences == [
          .init(
            entity: "Album", key: 2, relationship: "songs", destination: "Song", destinationKey: 7,
            reason: .missing)
        ])
    }
  }

  @Test func `a relationship that is its own inverse is symmetric`() throws {
    let model = try ManagedObjectModel {
      Entity("Person") {
        Relationship("friends", toMany: "Person", inverse: "friends")
        Relationship("spouse", toOne: "Person", inverse: "spouse")
      }
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Person")
    writer.addTable(
      "ZPERSON", ["ZSPOUSE INTEGER"],
      [(1, 1, [2]), (2, 1, [1]), (3, 1, [4]), (4, 1, [nil]), (5, 1, [2])])
    writer.addJoinTable("Z_1FRIENDS", ["Z_1FRIENDS", "REFLEXIVE"], [[1, 2], [3, 1], [2, 1]])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects.keys("Person", 1, toMany: "friends") == [2, 3])
    #expect(objects.keys("Person", 3, toMany: "friends") == [1])
    #expect(objects.key("Person", 1, toOne: "spouse") == 2)
    #expect(objects.key("Person", 4, toOne: "spouse") == 3)
    #expect(objects.key("Person", 5, toOne: "spouse") == nil)
    #expect(report.danglingReferences.map(\.reason) == [.taken])
  }

  @Test func `the two columns of a one-to-one are brought to agree, and what loses is reported`()
    throws
  {
    let model = try ManagedObjectModel {
      Entity("Post") { Relationship("color", toOne: "Color", inverse: "post") }
      Entity("Color") { Relationship("post", toOne: "Post", inverse: "color") }
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Color")
    writer.addEntity(2, "Post")
    // 1–1 agree; Post 2 claims Color 1, which is taken; Color 3 alone claims Post 3; 9 is nowhere.
    writer.addTable("ZCOLOR", ["ZPOST INTEGER"], [(1, 1, [1]), (2, 1, [nil]), (3, 1, [3])])
    writer.addTable(
      "ZPOST", ["ZCOLOR INTEGER"], [(1, 2, [1]), (2, 2, [1]), (3, 2, [nil]), (4, 2, [9])])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    for object in objects where object.entity.name == "Post" {
      if let color = object.toOne["color"]?.key {
        #expect(objects.key("Color", color, toOne: "post") == object.primaryKey)
      }
    }
    #expect(report.linkCounts == ["Color.post": 2, "Post.color": 2])
    #expect(Set(report.danglingReferences.map(\.reason)) == [.taken, .missing])
    #expect(report.notes.contains { $0.hasSuffix("one side only: 1") })
  }

  @Test func `a to-many without inverse is read from the column of its destination`() throws {
    let model = try ManagedObjectModel {
      Entity("Album") { Relationship("documents", toMany: "Document", ordered: true) }
      Entity("Document")
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Album")
    writer.addEntity(2, "Document")
    writer.addTable("ZALBUM", [], [(1, 1, [])])
    writer.addTable(
      "ZDOCUMENT", ["Z1DOCUMENTS INTEGER", "Z_FOK_1DOCUMENTS INTEGER"],
      [(1, 2, [1, 9]), (2, 2, [1, 3]), (3, 2, [4, 1])])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects.keys("Album", 1, toMany: "documents") == [2, 1])
    #expect(report.danglingReferences.map(\.key) == [4])
  }

  @Test func `a to-many without inverse may also have a join table`() throws {
    let model = try ManagedObjectModel {
      Entity("Album") { Relationship("documents", toMany: "Document") }
      Entity("Document")
    }
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Album")
    writer.addEntity(2, "Document")
    writer.addTable("ZALBUM", [], [(1, 1, []), (2, 1, [])])
    writer.addTable("ZDOCUMENT", [], [(1, 2, [])])
    writer.addJoinTable("Z_1DOCUMENTS", ["Z_1ALBUMS", "Z_2DOCUMENTS"], [[1, 1], [2, 1]])
    let (objects, _) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects.keys("Album", 1, toMany: "documents") == [1])
    #expect(objects.keys("Album", 2, toMany: "documents") == [1])
  }

  @Test func `a reference names the concrete entity, and one to a wrong entity is left out`() throws
  {
    let model = try mediaModel()
    var writer = mediaWriter([(1, 3, ["a", nil]), (2, 4, [nil, "b"])])
    writer.addTable(
      "ZFRAME", ["ZIMAGE INTEGER", "Z3_IMAGE INTEGER", "ZMEDIA INTEGER"],
      [(1, 1, [1, 3, 2]), (2, 1, [2, 4, 1])])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    let frame = try #require(objects.first { $0.entity.name == "Frame" && $0.primaryKey == 1 })
    #expect(frame.toOne["image"] == .init(entity: "Image", key: 1))
    #expect(frame.toOne["media"] == .init(entity: "Movie", key: 2))
    #expect(objects.key("Frame", 2, toOne: "image") == nil)
    #expect(report.danglingReferences.map(\.reason) == [.wrongEntity("Movie")])
    #expect(report.objectCounts == ["Frame": 2, "Image": 1, "Movie": 1])
  }

  @Test func `a join table's row of an entity without the relationship is left out`() throws {
    let model = try ManagedObjectModel {
      Entity("Media", abstract: true)
      Entity("Image", parent: "Media") { Relationship("tags", toMany: "Tag", inverse: "images") }
      Entity("Movie", parent: "Media")
      Entity("Tag") { Relationship("images", toMany: "Image", inverse: "tags") }
    }
    var writer = CoreDataStoreWriter()
    for (number, name, parent) in [
      (1, "Media", 0), (2, "Image", 1), (3, "Movie", 1), (4, "Tag", 0),
    ] {
      writer.addEntity(Int64(number), name, parent: Int64(parent))
    }
    writer.addTable("ZMEDIA", [], [(1, 2, []), (2, 3, [])])
    writer.addTable("ZTAG", [], [(1, 4, [])])
    writer.addJoinTable("Z_2TAGS", ["Z_2IMAGES", "Z_4TAGS"], [[1, 1], [2, 1]])
    let (objects, report) = try writer.store(in: folder).contents(of: model).readAll()
    #expect(objects.keys("Tag", 1, toMany: "images") == [1])
    #expect(objects.keys("Movie", 2, toMany: "tags") == [])
    #expect(report.danglingReferences.map(\.reason) == [.wrongEntity("Movie")])
  }

  @Test func `siblings with a property of one name have columns with numbers`() throws {
    var writer = mediaWriter([(1, 3, ["a", "wrong"]), (2, 4, ["wrong", "b"])])
    writer.addTable("ZFRAME", ["ZIMAGE INTEGER", "ZMEDIA INTEGER"], [])
    let (objects, _) = try writer.store(in: folder).contents(of: mediaModel()).readAll()
    #expect(objects.map { $0.attributes["title"] } == ["a", "b"])
  }

  @Test(arguments: [(2, "abstract"), (9, "no entity of the hierarchy"), (nil, "NULL")])
  func `in a hierarchy a row of an abstract or unknown entity is an error with row and number`(
    number: Int64?, words: String
  ) throws {
    var writer = mediaWriter([(1, 3, [nil, nil]), (7, number, [nil, nil])])
    writer.addTable("ZFRAME", ["ZIMAGE INTEGER", "ZMEDIA INTEGER"], [])
    let store = try writer.store(in: folder)
    #expect { try store.contents(of: mediaModel()) } throws: {
      guard case .wrongEntity("ZMEDIA", 7, number, _)? = ($0 as? CoreDataStoreError)?.reason
      else { return false }
      return "\($0)".contains(words)
    }
  }

  @Test func `without subentities the entity number of a row is not looked at`() throws {
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Item", maximum: 0)
    writer.addTable("ZITEM", [], [(4, 77, []), (9, nil, [])])
    let contents = try writer.store(in: folder).contents(of: ManagedObjectModel { Entity("Item") })
    let (objects, report) = try contents.readAll()
    #expect(objects.map(\.primaryKey) == [4, 9])
    #expect(report.notes.contains { $0.contains("rows of ZITEM that name another entity: 2") })
    #expect(contents.maximumPrimaryKeys == ["Item": 9])
  }

  private func mediaModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Media", abstract: true)
      Entity("Image", parent: "Media") { Attribute("title", .string) }
      Entity("Movie", parent: "Media") { Attribute("title", .string) }
      Entity("Frame") {
        Relationship("image", toOne: "Image")
        Relationship("media", toOne: "Media")
      }
    }
  }

  private func mediaWriter(
    _ rows: [(Int64, Int64?, [SQLiteValue])]
  ) -> CoreDataStoreWriter {
    var writer = CoreDataStoreWriter()
    writer.addEntity(1, "Frame")
    writer.addEntity(2, "Media")
    writer.addEntity(3, "Image", parent: 2)
    writer.addEntity(4, "Movie", parent: 2)
    writer.addTable("ZMEDIA", ["ZTITLE VARCHAR", "ZTITLE1 VARCHAR"], rows)
    return writer
  }
}
