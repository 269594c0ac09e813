import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What can be true of no object is an error before anything is searched, not an empty result.
@Suite struct FetchMistakeTests {
  private static let model = try! ManagedObjectModel {
    Entity("Person") {
      Attribute("name", .string)
      Attribute("age", .integer16)
      Attribute("hired", .date)
      Attribute("token", .uuid)
      Attribute("page", .uri)
      Attribute("photo", .binaryData)
      Attribute("mood", .string, transient: true)
      Attribute("home", .composite) {
        Attribute("city", .string)
        Attribute("number", .integer32)
      }
      Attribute("secret", .transformable)
      Relationship("dept", toOne: "Dept", inverse: "staff")
      Relationship("tags", toMany: "Tag", inverse: "people")
      FetchIndex("byAge", on: "age")
    }
    Entity("Dept") {
      Attribute("name", .string)
      Attribute("budget", .decimal)
      Relationship("staff", toMany: "Person", inverse: "dept")
    }
    Entity("Tag") {
      Attribute("word", .string)
      Relationship("people", toMany: "Person", inverse: "tags")
    }
  }

  private static func error(
    _ predicate: FetchPredicate?, sort: [String] = []
  ) throws -> PersistenceError? {
    let context = try ManagedObjectContext.stubbed(model)
    try context.insert("Person", ["name": "Ana", "age": 3])
    try context.save()
    var request = FetchRequest<ManagedObject>(entityName: "Person")
    request.predicate = predicate
    request.sortDescriptors = sort.map { FetchSortDescriptor(key: $0) }
    do {
      _ = try context.fetch(request)
      _ = try context.count(for: request)
      return nil
    } catch {
      // Counting is no way around.
      #expect(throws: PersistenceError.self) { try context.count(for: request) }
      return error as? PersistenceError
    }
  }

  @Test(arguments: [
    ("age == 'abc'", "age", "a number", "a text"),
    ("'abc' == age", "age", "a text", "a number"),
    ("age != 'abc'", "age", "a number", "a text"),
    ("age > 'abc'", "age", "a number", "a text"),
    ("NOT (age == 1 OR age == 'abc')", "age", "a number", "a text"),
    ("hired > 5", "hired", "a date", "a number"),
    ("hired == '2020-01-01'", "hired", "a date", "write CAST("),
    ("tags.@count > 'a'", "tags.@count", "a number", "a text"),
    ("dept == 'x'", "dept", "an object of Dept", "a text"),
    ("dept.name == dept", "dept.name", "a text", "an object of Dept"),
    ("dept.budget == name", "dept.budget", "a number", "a text"),
    ("token == 'E621E1F8'", "token", "a UUID", "Give it a UUID"),
    ("page BEGINSWITH 'http'", "page", "BEGINSWITH needs texts", "a URL"),
    ("photo CONTAINS 'x'", "photo", "CONTAINS needs a text", "data"),
    ("age BEGINSWITH '1'", "age", "BEGINSWITH needs texts", "a number"),
    ("name LIKE 5", "name", "LIKE needs texts", "a number"),
    ("name MATCHES age", "age", "MATCHES needs texts", "a number"),
    ("age IN {1, 'b'}", "age", "is a text", "a number"),
    ("age IN 'abc'", "age", "a number", "a text"),
    ("age IN 5", "age", "IN needs a list", "a number"),
    ("age BETWEEN {1, 'b'}", "age", "is a text", "a number"),
    ("age BETWEEN 5", "age", "BETWEEN needs a list", "a number"),
    ("name CONTAINS 5", "name", "a text", "a number"),
    ("tags CONTAINS 'red'", "tags", "an object of Tag", "a text"),
    ("tags == 5", "tags", "a collection of objects of Tag", "ANY, ALL or NONE"),
    ("tags.word == 'red'", "tags.word", "a collection of texts", "ANY, ALL or NONE"),
    ("tags.word BEGINSWITH 'r'", "tags.word", "a collection of texts", "ANY, ALL or NONE"),
    ("tags.word < 'r'", "tags.word", "a collection of texts", "ANY, ALL or NONE"),
    ("tags.word IN {'r'}", "tags.word", "a collection of texts", "ANY, ALL or NONE"),
    ("name == tags.word", "tags.word", "a collection of texts", "ANY, ALL or NONE"),
    ("tags == nil", "tags", "a collection of objects of Tag", "tags.@count == 0"),
    ("ANY tags.word == 5", "tags.word", "a text", "a number"),
    ("ANY tags.word == tags.word", "tags.word", "a collection of texts", "ANY, ALL or NONE"),
    ("tags.@sum.word > 5", "tags.@sum.word", "adds numbers", "a text"),
    ("tags.@max.people > 5", "tags.@max.people", "objects have no order", "@max"),
    ("dept.@sum.budget > 5", "dept.@sum.budget", "a to-many relationship", "an object of Dept"),
    ("tags.word.@count > 5", "tags.word.@count", "no to-many relationship", "word"),
    ("tags.@count.x > 5", "tags.@count.x", "nothing follows @count", "x"),
    ("dept < dept.staff.dept", "dept.staff.dept", "a collection", "ANY, ALL or NONE"),
    ("dept < SELF.dept", "dept", "neither greater nor less", "an object of Dept"),
    ("home > home", "home", "neither greater nor less", "a composite value"),
    ("home.city == 5", "home.city", "a text", "a number"),
    ("name.length == 'x'", "name.length", "a number", "a text"),
    ("ANY secret == 'x'", "secret", "is kept as data", "evaluate the predicate on the objects"),
    ("secret CONTAINS 'x'", "secret", "is kept as data", "evaluate the predicate on the objects"),
    ("'x' IN secret", "secret", "is kept as data", "evaluate the predicate on the objects"),
    ("secret IN {'x', 'y'}", "secret", "is kept as data", "a text"),
    ("secret == 5", "secret", "is kept as data", "a number"),
    ("secret == {'x'}", nil, "a collection of texts", "does not compare"),
    ("secret > secret", "secret", "neither greater nor less", "is kept as data"),
    ("hired + 5 == 6", "hired", "a date", "a number"),
    ("hired - hired == hired", "hired", "a number", "a date"),
    ("uppercase:(name) == 5", nil, "a text", "a number"),
    ("CAST(age, 'NSDate') == 5", nil, "a date", "a number"),
    ("TERNARY(age > 1, name, 'b') == 5", nil, "a text", "a number"),
    ("SUBQUERY(tags, $t, $t.word == 5).@count > 0", nil, "$t.word", "a number"),
    ("TERNARY(age == 'x', 1, 2) == 1", "age", "a number", "a text"),
  ])
  func `a predicate that can be true of no object is an error`(
    _ format: String, _ key: String?, _ first: String, _ second: String
  ) throws {
    let error = try #require(try Self.error(FetchPredicate(format: format)), "\(format)")
    #expect(error.code == .invalidExpression, "\(error)")
    for word in [first, second] { #expect(error.message.contains(word), "\(format): \(error)") }
    if let key {
      #expect(error.key == key && error.entityName == "Person", "\(format): \(error.key ?? "")")
      #expect(error.message.contains("Person"), "\(format): \(error)")
    }
  }

  @Test(arguments: [
    "secret == nil", "secret != nil", "secret == secret", "secret == photo", "age == 5",
    "age == 5.5", "age == YES", "age == nil", "age > nil", "name == nil",
    "name IN {nil, 'a'}", "age IN {}", "age IN {1, 2.5}", "age BETWEEN {1, nil}",
    "hired > CAST(5, 'NSDate')", "hired + 5 > hired", "hired - hired == 0", "dept == nil",
    "dept.staff == {}", "tags == dept.staff.tags", "ANY tags == nil", "SELF IN dept.staff",
    "dept.name == name", "ANY age == 5", "'a' IN name", "name IN 'abc'", "1 == 1",
    "secret == nil", "page.absoluteString BEGINSWITH 'http'",
    "token.UUIDString BEGINSWITH 'E'", "age.stringValue BEGINSWITH '1'", "home == nil",
    "FUNCTION(name, 'length') == 5", "noindex:(age) == 5", "name == dept.staff.@max.name",
    "tags.@max.word == 'a'", "TERNARY(age > 1, name, age) == 5", "max:({age, 5}) == 5",
    "tags CONTAINS nil", "name CONTAINS nil", "name BEGINSWITH nil", "NONE tags.word == 'a'",
  ])
  func `a predicate that may be true of some object is no error`(_ format: String) throws {
    let error = try Self.error(FetchPredicate(format: format))
    #expect(error == nil, "\(format): \(String(describing: error))")
  }

  @Test(arguments: [
    ("nmae == 'a'", "nmae", "name"), ("Name == 'a'", "Name", "name"),
    ("dept.budgt > 1", "budgt", "budget"), ("ANY tag.word == 'a'", "tag", "tags"),
    ("home.cty == 'a'", "cty", "city"), ("name.lenght > 1", "lenght", "length"),
    ("SUBQUERY(tags, $t, $t.wrod == 'a').@count > 0", "wrod", "word"),
  ])
  func `a name that is nearly right is told`(
    _ format: String, _ key: String, _ meant: String
  ) throws {
    let error = try #require(try Self.error(FetchPredicate(format: format)))
    #expect(error.code == .undefinedKey && error.key == key, "\(error)")
    #expect(error.message.contains("is \(meant) meant?"), "\(error)")
  }

  @Test(arguments: ["tags", "tags.word", "dept.staff", "tags.@unionOfObjects.word"])
  func `a sort key that leads to many is an error`(_ key: String) throws {
    let error = try #require(try Self.error(nil, sort: ["name", key]))
    #expect(error.code == .invalidExpression && error.key == key, "\(error)")
    #expect(error.message.contains("\(key).@count"), "\(error)")
  }

  @Test(arguments: ["tags.@count", "dept.name", "home.city", "name.length", "tags.@max.word"])
  func `a sort key that leads to one value is none`(_ key: String) throws {
    #expect(try Self.error(nil, sort: [key]) == nil)
  }

  @Test func `a predicate in Swift is checked as well`() throws {
    let error = try Self.error(Key("age") == "abc")
    #expect(error?.message.contains("is a text") ?? false, "\(String(describing: error))")
    #expect(try Self.error(Key("hired") > Date()) == nil)
    #expect(try Self.error(Key("mood") == "good")?.key == "mood")
  }
}
