import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Members of ordered relationships by their places, and the entities of objects, in a fetch as in
/// memory.
@Suite struct MembersAndKindsTests {
  private static let model = try! ManagedObjectModel {
    Entity("Person") {
      Attribute("name", .string)
      Attribute("home", .composite) { Attribute("city", .string) }
      Relationship("stops", toMany: "Stop", inverse: "person", ordered: true)
      Relationship("friends", toMany: "Person", inverse: "friends")
      Relationship("chief", toOne: "Person")
    }
    Entity("Teacher", class: "School.SchoolTeacher", parent: "Person") {
      Attribute("subject", .string)
    }
    Entity("Headmaster", parent: "Teacher")
    Entity("Student", parent: "Person")
    Entity("Stop") {
      Attribute("entity", .string)
      Attribute("word", .string)
      Relationship("person", toOne: "Person", inverse: "stops")
    }
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    var people: [String: ManagedObject] = [:]
    for (entity, name, words) in [
      ("Person", "Ana", ["a", "b", "c"]), ("Teacher", "Ben", ["b"]), ("Headmaster", "Cy", []),
      ("Student", "Di", ["c", "a"]),
    ] {
      let person = try context.insert(entity, ["name": name, "home": ["city": "\(name)ville"]])
      people[name] = person
      let stops = try words.map { try context.insert("Stop", ["word": $0, "entity": $0 + $0]) }
      try person.setValue(stops, forKey: "stops")
    }
    try people["Ana"]?.setValue(people["Cy"], forKey: "chief")
    try people["Di"]?.setValue(people["Ana"], forKey: "chief")
  }

  private static func found(
    _ predicate: FetchPredicate, in context: ManagedObjectContext, _ entity: String = "Person"
  ) throws -> [String] {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = predicate
    let key = entity == "Stop" ? "word" : "name"
    func names(_ objects: [ManagedObject]) throws -> [String] {
      try objects.map { try $0.value(forKey: key) as? String ?? "" }.sorted()
    }
    let names = try names(context.fetch(request))
    #expect(try context.count(for: request) == names.count)
    let all = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
    let inMemory = try all.filter { try predicate.evaluate(with: $0) }
    #expect(try inMemory.map { try $0.value(forKey: key) as? String ?? "" }.sorted() == names)
    return names
  }

  @Test(arguments: GotchaHome.allCases)
  func `members and kinds mean the same in a fetch and in memory`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: []) { context in
      try Self.fill(context)
      for isSaved in [false, true] {
        if isSaved {
          try context.save()
          context.reset()
        }
        for (format, expected) in [
          ("stops[FIRST].word == 'a'", ["Ana"]), ("stops[LAST].word == 'a'", ["Di"]),
          ("stops[1].word == 'b'", ["Ana"]), ("stops[7] == nil", ["Ana", "Ben", "Cy", "Di"]),
          ("stops[FIRST] == nil", ["Cy"]), ("stops[SIZE] == 2", ["Di"]),
          ("stops[FIRST] == stops[LAST] AND stops.@count > 0", ["Ben"]),
          ("chief.stops[0].word == 'a'", ["Di"]), ("home['city'] == 'Anaville'", ["Ana"]),
          ("SUBQUERY(stops, $s, $s.word != 'b')[LAST].word == 'c'", ["Ana"]),
          ("self isKindOfClass: 'Teacher'", ["Ben", "Cy"]),
          ("self isKindOfClass: 'SchoolTeacher'", ["Ben", "Cy"]),
          ("self isKindOfClass: 'School.SchoolTeacher'", ["Ben", "Cy"]),
          ("NOT self isKindOfClass: 'Teacher'", ["Ana", "Di"]),
          ("self isMemberOfClass: 'Teacher'", ["Ben"]),
          ("chief isKindOfClass: 'Headmaster'", ["Ana"]),
          ("SUBQUERY(friends, $f, $f isKindOfClass: 'Student').@count > 0", []),
          ("entity == 'Person'", ["Ana"]), ("entity.name != 'Student'", ["Ana", "Ben", "Cy"]),
          ("entity IN {'Student', 'Teacher'}", ["Ben", "Di"]),
          ("chief.entity == 'Headmaster'", ["Ana"]), ("entity.name.length == 7", ["Ben", "Di"]),
          ("chief.entity == nil", ["Ben", "Cy"]),
        ] {
          #expect(
            try Self.found(FetchPredicate(format: format), in: context) == expected, "\(format)")
        }
        let teacher = try #require(Self.model.entity(named: "Teacher"))
        #expect(
          try Self.found(FetchPredicate(format: "entity == %@", teacher), in: context) == ["Ben"])
        #expect(try Self.found(Key.object.isKind(of: "Teacher"), in: context) == ["Ben", "Cy"])
        #expect(
          try Self.found(Key("stops").filtered(by: Key("word") > "a").count > 1, in: context)
            == ["Ana"])
        // A property of that name is meant where there is one.
        #expect(
          try Self.found(FetchPredicate(format: "entity == 'cc'"), in: context, "Stop")
            == ["c", "c"])
        #expect(
          try Self.found(FetchPredicate(format: "self isKindOfClass: 'Stop'"), in: context, "Stop")
            .count == 6)
      }
    }
  }

  @Test(arguments: [
    ("friends[FIRST].name == 'a'", "friends", "have no order"),
    ("friends[0] == nil", "friends", "have no order"),
    ("chief.friends.stops[LAST] == nil", "friends", "have no order"),
    ("(stops UNION stops)[FIRST] == nil", "UNION", "have no order"),
    ("SUBQUERY(friends, $f, $f.name == 'a')[0] == nil", "friends", "have no order"),
    ("name[FIRST] == 'a'", "name", "only an array"),
    ("self isKindOfClass: 'Teecher'", "Teecher", "is Teacher meant?"),
    ("self isKindOfClass: 'Stop'", "Stop", "no entity there"),
    ("name isKindOfClass: 'Person'", "a text", "only an object"),
    ("self isKindOfClass: 5", "5", "name of an entity"), ("entity == 5", "entity", "a number"),
    ("entity.nam == 'Person'", "nam", "does not have"),
    ("stops[FIRST].wort == 'a'", "wort", "is word meant?"),
  ])
  func `an index into an unordered collection or an impossible class test is an error`(
    _ format: String, _ name: String, _ reason: String
  ) throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    var request = FetchRequest<ManagedObject>(entityName: "Person")
    request.predicate = try FetchPredicate(format: format)
    do {
      _ = try context.fetch(request)
      Issue.record("\(format) was taken")
    } catch {
      let text = (error as? PersistenceError)?.message ?? ""
      #expect(text.contains(name) && text.contains(reason), "\(text)")
    }
  }

  @Test func `a predicate with objects is decoded with their coordinator`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    try Self.fill(context)
    try context.save()
    let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
    let ana = try #require(try people.first { try $0.value(forKey: "name") as? String == "Ana" })
    let predicate = Key("chief").in(people) && Key.object != ana && Key("name") != "x"
    let data = try JSONEncoder().encode(predicate)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(FetchPredicate.self, from: data)
    }
    let decoder = JSONDecoder()
    decoder.userInfo[.persistentStoreCoordinator] = context.persistentStoreCoordinator
    let decoded = try decoder.decode(FetchPredicate.self, from: data)
    #expect(decoded == predicate)
    #expect(try Self.found(decoded, in: context) == ["Di"])
    // Nobody else knows an object that was not saved.
    let unsaved = try context.insert("Person", [:])
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(Key("chief") == unsaved) }
  }
}
