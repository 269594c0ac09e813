import Foundation
import Quire
import Testing

/// The table "Which writes conflict" of docs/isolation.md, run.
@Suite struct ConflictTableTests {
  private enum Outcome: String { case conflict, both, refused }

  /// What there is before both contexts read it: an artist `a` with the works `u` and `v` and the
  /// spouse `b`, an artist `c`; the work `u` with the tag `t`, another tag; a show of `a` and `b`.
  private struct Scene {
    let context: ManagedObjectContext
    let (a, b, c): (SmallGallery.Artist, SmallGallery.Artist, SmallGallery.Artist)
    let (u, v): (SmallGallery.Artwork, SmallGallery.Artwork)
    let (t, other): (ManagedObject, ManagedObject)
    let show: SmallGallery.Show

    init(new context: ManagedObjectContext) throws {
      func object<Object: ManagedObject>(_ entity: String, _ key: String, _ value: String) throws
        -> Object
      {
        try #require(try context.insert(entity, [key: value]) as? Object)
      }
      self.context = context
      a = try object("Artist", "name", "a")
      b = try object("Artist", "name", "b")
      c = try object("Artist", "name", "c")
      u = try object("Artwork", "title", "u")
      v = try object("Artwork", "title", "v")
      t = try object("Tag", "word", "t")
      other = try object("Tag", "word", "other")
      show = try object("Show", "name", "show")
      a.artworks = [u, v]
      a.spouse = b
      try u.setValue(Set([t]), forKey: "tags")
      show.artists = [a, b]
      try context.save()
    }

    /// The same objects in another context of the store, which has read all rows.
    init(_ scene: Scene) throws {
      let context = SmallGallery.sibling(of: scene.context)
      func same<Object: ManagedObject>(_ object: Object) throws -> Object {
        let object = try #require(
          try context.existingObject(with: object.objectID) as? Object)
        try context.readRow(of: object)
        return object
      }
      self.context = context
      (a, b, c) = (try same(scene.a), try same(scene.b), try same(scene.c))
      (u, v, show) = (try same(scene.u), try same(scene.v), try same(scene.show))
      (t, other) = (try same(scene.t), try same(scene.other))
    }

    func add(_ tag: ManagedObject, to work: ManagedObject) throws {
      try work.mutableSetValue(forKey: "tags").add(tag)
    }

    func remove(_ tag: ManagedObject, from work: ManagedObject) throws {
      try work.mutableSetValue(forKey: "tags").remove(tag)
    }

    func work(_ title: String, of artist: SmallGallery.Artist?) {
      let work = SmallGallery.Artwork(context: context)
      work.title = title
      work.artist = artist
    }
  }

  private typealias Change = @Sendable (Scene) throws -> Void

  /// The programs of a line: each of the first with each of the second.
  private struct Line: Sendable {
    let first: [Change]
    let second: [Change]
    /// What holds in the store if both are saved.
    var result: @Sendable (Scene) throws -> Bool = { _ in true }
  }

  private static let setName: Change = { $0.a.name = "changed" }
  private static let uses: [Change] = [
    { $0.work("new", of: $0.a) }, { $0.u.artist = $0.c }, { $0.a.artworks.remove($0.v) },
    { $0.show.artists.append($0.c) }, { $0.show.artists.removeAll { $0.name == "b" } },
    { $0.c.shows = [$0.show] },
  ]

  private static let lines: [String: Line] = [
    "set an attribute of an object|sets the same attribute":
      Line(first: [setName], second: [{ $0.a.name = "mine" }, setName]),
    "set an attribute of an object|sets another attribute of it":
      Line(first: [setName], second: [{ $0.a.born = 1 }]),
    "set an attribute of an object|refers to it, adds it to a relationship or removes it":
      Line(
        first: [{ for object in [$0.a, $0.b, $0.c] { object.born = 7 } }, { $0.show.name = "S" }],
        second: [
          { $0.work("new", of: $0.a) }, { $0.u.artist = $0.c }, { $0.u.artist = nil },
          { $0.a.artworks.insert(SmallGallery.Artwork(context: $0.context)) },
          { $0.show.artists.append($0.c) }, { $0.show.artists.removeAll { $0.name == "b" } },
          { $0.c.shows.insert($0.show) }, { $0.c.spouse = $0.a }, { $0.a.spouse = nil },
          { try $0.add($0.other, to: $0.u) }, { try $0.remove($0.t, from: $0.u) },
        ],
        result: { ($0.a.born, $0.b.born, $0.c.born) == (7, 7, 7) || $0.show.name == "S" }),
    "set an attribute of an object|sets a to-one relationship of it":
      Line(
        first: [{ $0.u.title = "U" }], second: [{ $0.u.artist = $0.c }],
        result: { $0.c.artworks.first?.title == "U" && $0.c.artworks.count == 1 }),
    "set a to-one relationship|sets it to another object":
      Line(
        first: [{ $0.u.artist = $0.b }, { $0.u.artist = nil }, { $0.b.artworks.insert($0.u) }],
        second: [{ $0.u.artist = $0.c }, { $0.c.artworks.insert($0.u) }]),
    "set a to-one relationship|sets it to the same object":
      Line(
        first: [{ $0.u.artist = $0.c }, { $0.c.artworks.insert($0.u) }],
        second: [{ $0.u.artist = $0.c }, { $0.c.artworks.insert($0.u) }],
        result: { $0.c.artworks.map(\.title) == ["u"] && $0.a.artworks.map(\.title) == ["v"] }),
    "set a to-one relationship|sets another one, or an attribute, of the same object":
      Line(
        first: [{ $0.u.artist = $0.c }],
        second: [{ $0.u.lookalike = $0.v }, { $0.u.title = "U" }],
        result: {
          $0.c.artworks.count == 1
            && ($0.c.artworks.first?.lookalike != nil)
              != ($0.c.artworks.first?.title == "U")
        }),
    "taken a member by setting its to-one relationship|adds it to another object's members":
      Line(first: [{ $0.u.artist = $0.b }], second: [{ $0.c.artworks = [$0.u] }]),
    "added or removed a member|adds or removes another one of the same object":
      Line(
        first: [
          { try $0.add($0.other, to: $0.u) }, { $0.work("there", of: $0.a) },
          { $0.v.artist = nil }, { $0.a.artworks.remove($0.v) },
        ],
        second: [
          { $0.work("here", of: $0.a) }, { $0.u.artist = $0.c },
          { try $0.remove($0.t, from: $0.u) },
          { try $0.add($0.other, to: $0.v) },
        ]),
    "added or removed a member|does the same":
      Line(
        first: [{ try $0.add($0.other, to: $0.u) }, { $0.a.artworks.remove($0.v) }],
        second: []),
    "added a member beyond the largest count|has added one as well":
      Line(
        first: [
          { scene in
            for _ in 0..<2 {
              scene.show.artists.append(SmallGallery.Artist(context: scene.context))
            }
          }
        ], second: [{ $0.show.artists.append($0.c) }]),
    "deleted an object|changes it, refers to it, adds it to a relationship or removes it":
      Line(
        first: [{ for object in [$0.a, $0.c, $0.show] { $0.context.delete(object) } }],
        second: [{ $0.a.name = "changed" }, { $0.show.name = "changed" }] + uses),
    "changed an object, referred to it or added it to a relationship|deletes it":
      Line(
        first: [setName, { $0.work("new", of: $0.a) }, { $0.c.spouse = $0.a }],
        second: [{ $0.context.delete($0.a) }]),
    "changed the order of a relationship|changes it too, or adds to it":
      Line(
        first: [{ $0.show.artists.reverse() }, { $0.show.artists.insert($0.c, at: 0) }],
        second: [
          { $0.show.artists.reverse() }, { $0.show.artists.append($0.c) },
          { $0.show.artists.insert(SmallGallery.Artist(context: $0.context), at: 1) },
        ]),
    "added to the end of an ordered relationship|adds to the end too":
      Line(
        first: [
          { scene in
            let artist = SmallGallery.Artist(context: scene.context)
            artist.name = "there"
            scene.show.artists.append(artist)
          }
        ], second: [{ $0.show.artists.append($0.c) }, { $0.c.shows.insert($0.show) }],
        result: { $0.show.artists.map(\.name) == ["a", "b", "there", "c"] }),
    "removed a member of an ordered relationship|changes the order, or adds to it":
      Line(
        first: [{ $0.show.artists.removeAll { $0.name == "a" } }, { $0.a.shows = [] }],
        second: [
          { $0.show.artists = [$0.c, $0.b, $0.a] }, { $0.show.artists = [$0.c, $0.a, $0.b] },
        ],
        result: {
          $0.show.artists.map(\.name).sorted() == ["b", "c"] && $0.show.artists.first == $0.c
        }),
    "set any attribute of an object|was told to `detectConflicts(for:)` it":
      Line(
        first: [setName],
        second: [
          {
            $0.context.detectConflicts(for: $0.a)
            $0.v.title = "V"
          }
        ]),
  ]

  /// The lines of the page.
  private static let table: [(key: String, outcome: String)] = {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../docs/isolation.md").standardized
    let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    let section = text.components(separatedBy: "## Which writes conflict").last ?? ""
    let rows = section.components(separatedBy: "\n").drop { !$0.hasPrefix("|---") }.dropFirst()
      .prefix { $0.hasPrefix("|") }
    return rows.map { row in
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return ("\(cells[0])|\(cells[1])", cells[2])
    }
  }()

  @Test func `each line of the page has its programs`() {
    #expect(
      Set(Self.table.map(\.key)) == Set(Self.lines.keys).union([ConflictTableTests.derivedLine]))
  }

  @Test(arguments: GotchaHome.allCases, Self.table.map(\.key))
  func `saves conflict as the page says`(_ home: GotchaHome, _ key: String) throws {
    guard let line = Self.lines[key],
      let outcome = Self.table.first(where: { $0.key == key }).flatMap({
        Outcome(rawValue: $0.outcome)
      })
    else { return #expect(key == Self.derivedLine) }
    for (number, first) in line.first.enumerated() {
      for second in line.second.isEmpty ? [first] : line.second {
        try run(home, first, second, line.result, outcome, "\(key), \(number)")
      }
    }
  }

  private func run(
    _ home: GotchaHome, _ first: Change, _ second: Change, _ result: (Scene) throws -> Bool,
    _ expected: Outcome, _ comment: String
  ) throws {
    try home.withContext { context in
      let there = try Scene(new: context)
      let here = try Scene(there)
      try second(here)
      here.context.processPendingChanges()
      try first(there)
      try there.context.save()
      let outcome: Outcome
      var report = ""
      do {
        try here.context.save()
        outcome = .both
      } catch let error as PersistenceError {
        outcome = error.code == .managedObjectMerge ? .conflict : .refused
        report = error.message
        if outcome == .conflict { #expect(!error.conflicts.isEmpty, "\(comment): \(error)") }
      }
      #expect(outcome == expected, "\(comment): \(report)")
      let fresh = SmallGallery.sibling(of: context)
      #expect(try StoreFacts(fresh).findings == [], "\(comment)")
      guard outcome == .both, expected == .both else { return }
      #expect(!here.context.hasChanges, "\(comment)")
      #expect(try result(Scene(there)), "\(comment)")
      // The second context shows what it has saved, and what it was put on.
      here.context.refreshAllObjects()
      #expect(try result(here), "\(comment)")
      withExtendedLifetime(fresh) {}
    }
  }

  // MARK: Derived attributes

  private static let derivedLine =
    "changed what a derived attribute is worked out of|changes something else of it, or of its object"

  private static let derivedModel = try! ManagedObjectModel {
    Entity("Post") {
      Attribute("title", .string)
      Attribute("count", .integer64, derivedFrom: "comments.@count")
      Attribute("sum", .integer64, derivedFrom: "comments.stars.@sum")
      Relationship("comments", toMany: "Comment", inverse: "post")
    }
    Entity("Comment") {
      Attribute("stars", .integer64)
      Relationship("post", toOne: "Post", inverse: "comments")
    }
  }

  @Test(arguments: GotchaHome.own)
  func `derived values dispute nothing, and are worked out of what both have saved`(
    _ home: GotchaHome
  ) throws {
    #expect(Self.table.first { $0.key == Self.derivedLine }?.outcome == "both")
    try home.withContext(Self.derivedModel, classes: []) { context in
      let post = try context.insert("Post", ["title": "p"])
      let comment = try context.insert("Comment", ["stars": 1, "post": post])
      try context.save()
      let here = SmallGallery.sibling(of: context)
      let same = try here.existingObject(with: post.objectID)
      #expect(try same.value(forKey: "count") as? Int == 1)
      try same.setValue("changed", forKey: "title")
      try here.insert("Comment", ["stars": 30, "post": same])
      try comment.setValue(200, forKey: "stars")
      try context.insert("Comment", ["stars": 4000, "post": post])
      try context.save()
      try here.save()
      #expect(try same.value(forKey: "sum") as? Int == 4230)
      let fresh = try SmallGallery.sibling(of: context).existingObject(with: post.objectID)
      #expect(try fresh.value(forKey: "sum") as? Int == 4230)
      #expect(try fresh.value(forKey: "count") as? Int == 3)
      #expect(try fresh.value(forKey: "title") as? String == "changed")
    }
  }
}

extension ManagedObjectContext {
  /// Reads the row of an object.
  fileprivate func readRow(of object: ManagedObject) throws {
    let attribute = object.entity.attributesByName.keys.sorted().first
    if let attribute { _ = try object.value(forKey: attribute) }
  }
}
