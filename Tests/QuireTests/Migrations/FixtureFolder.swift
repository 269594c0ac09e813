import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder of an application that ships versions of a small model, for tests of the fixtures.
struct FixtureFolder {
  let url: URL

  /// Calls `body` with a folder that has a fixture of each version before the current one.
  static func use<Result>(_ body: (FixtureFolder) throws -> Result) throws -> Result {
    try withTemporaryFolder { url in
      let folder = FixtureFolder(url: url.appending(path: "fixtures"))
      for version in ["1.0", "1.1"] { try folder.record(version) }
      return try body(folder)
    }
  }

  var fixtures: MigrationFixtures { MigrationFixtures(in: url) }

  func file(_ name: String) -> URL { url.appending(path: name) }

  func names() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: url.path(percentEncoded: false)).sorted()
  }

  func contents() throws -> [String: Data] {
    try Dictionary(uniqueKeysWithValues: names().map { ($0, try Data(contentsOf: file($0))) })
  }

  /// - Parameter version: the name of any of ``model()``'s versions.
  func record(_ version: String) throws {
    let model = try #require(try Self.model().endingAt(version))
    try fixtures.record(model, fill: Self.fill)
  }

  /// Two people, who know each other in versions that have that.
  static func fill(_ context: ManagedObjectContext) throws {
    var people: [ManagedObject] = []
    for name in ["Hilma", "Wassily"] {
      let person = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
      try person.setValue(name, forKey: "name")
      if person.entity.attributesByName["nick"] != nil { try person.setValue("x", forKey: "nick") }
      people.append(person)
    }
    if people[0].entity.relationshipsByName["friend"] != nil {
      try people[0].setValue(people[1], forKey: "friend")
    }
  }

  /// 1.0 has names, 1.1 friends too, 2.0 notes; 1.0 and 2.0 have nicknames, 1.1 has not.
  ///
  /// - Parameter edited: a version to which somebody added an attribute after it was shipped.
  static func model(editing edited: String? = nil) throws -> VersionedModel {
    func person(_ version: String, nick: Bool, friend: Bool) -> Entity {
      Entity("Person") {
        Attribute("name", .string)
        if nick { Attribute("nick", .string) }
        if friend { Relationship("friend", toOne: "Person") }
        if version == edited { Attribute("born", .date) }
      }
    }
    let versions = [
      ("1.0", [person("1.0", nick: true, friend: false)]),
      ("1.1", [person("1.1", nick: false, friend: true)]),
      (
        "2.0",
        [person("2.0", nick: true, friend: true), Entity("Note") { Attribute("text", .string) }]
      ),
    ]
    return try #require(
      VersionedModel(
        name: "People",
        versions: versions.map { .init($0, try ManagedObjectModel(entities: $1)) }))
  }
}

/// The failures of a call that should have thrown them.
func fixtureFailures(_ body: () throws -> Void) throws -> [String] {
  do {
    try body()
    return []
  } catch let error as MigrationFixtureError {
    return error.failures
  }
}
