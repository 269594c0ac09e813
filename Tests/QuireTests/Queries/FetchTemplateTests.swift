import Quire
import QuireTesting
import Testing

@Suite struct FetchTemplateTests {
  final class Artist: ManagedObject {
    @Managed var name: String
    @Managed var works: Set<Work>
  }

  final class Work: ManagedObject {
    @Managed var title: String
    @Managed var price: Double
    @Managed var artist: Artist?
  }

  private static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("works", toMany: "Work", inverse: "artist")
    }
    Entity("Work") {
      Attribute("title", .string)
      Attribute("price", .double)
      Relationship("artist", toOne: "Artist")
    }
    FetchRequestTemplate("all", of: "Work")
    FetchRequestTemplate("cheap", of: "Work", where: "price < $PRICE", limit: 2)
    FetchRequestTemplate(
      "dearest", of: "Work", where: "title != $TITLE",
      sortedBy: [FetchSortDescriptor(key: "price", ascending: false)], limit: 2)
    FetchRequestTemplate("between", of: "Work", where: "price BETWEEN {$LOW, $HIGH}")
    FetchRequestTemplate("range", of: "Work", where: "price BETWEEN $RANGE")
    FetchRequestTemplate("named", of: "Work", where: "title IN $TITLES OR artist.name == $NAME")
    FetchRequestTemplate("by", of: "Work", where: "artist == $ARTIST")
    FetchRequestTemplate("namesakes", of: "Work", where: "artist.name == $ARTIST.name")
    FetchRequestTemplate("dearer", of: "Work", where: "price > $ARTIST.works.@min.price")
  }

  private func gallery() throws -> ManagedObjectContext {
    let context = try ManagedObjectContext.stubbed(Self.model, classes: [Artist.self, Work.self])
    for name in ["Ana", "Ben"] {
      let artist = Artist(context: context)
      artist.name = name
      for number in 1...2 {
        let work = Work(context: context)
        work.title = "\(name) \(number)"
        work.price = Double(number * (name == "Ana" ? 1 : 10))
        work.artist = artist
      }
    }
    try context.save()
    return context
  }

  private func titles(
    _ context: ManagedObjectContext, _ name: String,
    _ variables: [String: (any PredicateConvertible)?] = [:]
  ) throws -> [String] {
    let request = try Self.model.fetchRequestFromTemplate(
      withName: name, substitutionVariables: variables, resultClass: Work.self)
    #expect(try context.count(for: request) == context.fetch(request).count)
    return try context.fetch(request).map(\.title).sorted()
  }

  @Test func `a template finds what its variables say`() throws {
    let context = try gallery()
    let everything = ["Ana 1", "Ana 2", "Ben 1", "Ben 2"]
    #expect(try titles(context, "all") == everything)
    #expect(try titles(context, "cheap", ["PRICE": 2]) == ["Ana 1"])
    #expect(try titles(context, "cheap", ["PRICE": 100.5, "UNUSED": 1]).count == 2)
    #expect(try titles(context, "between", ["LOW": 2, "HIGH": 10]) == ["Ana 2", "Ben 1"])
    #expect(try titles(context, "range", ["RANGE": [2, 10]]) == ["Ana 2", "Ben 1"])
    #expect(
      try titles(context, "named", ["TITLES": ["Ana 1"], "NAME": "Ben"])
        == ["Ana 1", "Ben 1", "Ben 2"])
    #expect(try titles(context, "by", ["ARTIST": nil]) == [])
  }

  @Test func `a template's results are in the order of the template`() throws {
    let context = try gallery()
    let request = try Self.model.fetchRequestFromTemplate(
      withName: "dearest", substitutionVariables: ["TITLE": "Ben 2"], resultClass: Work.self)
    #expect(try context.fetch(request).map(\.title) == ["Ben 1", "Ana 2"])
  }

  @Test func `an object stands for a variable, and a path behind it is followed`() throws {
    let context = try gallery()
    let artists = try context.fetch(FetchRequest<Artist>())
    let ana = try #require(artists.first { $0.name == "Ana" })
    #expect(try titles(context, "by", ["ARTIST": ana]) == ["Ana 1", "Ana 2"])
    #expect(try titles(context, "by", ["ARTIST": ana.objectID]) == ["Ana 1", "Ana 2"])
    #expect(try titles(context, "namesakes", ["ARTIST": ana]) == ["Ana 1", "Ana 2"])
    #expect(try titles(context, "dearer", ["ARTIST": ana]) == ["Ana 2", "Ben 1", "Ben 2"])
  }

  @Test func `a variable without a value is an error that names it`() throws {
    #expect {
      _ = try Self.model.fetchRequestFromTemplate(
        withName: "between", substitutionVariables: ["LOW": 1])
    } throws: {
      code(of: $0) == .invalidExpression
        && "\($0)".contains("fetch request template between: no value was given for $HIGH")
    }
  }

  @Test func `a template that is not there is an error that lists those that are`() throws {
    #expect {
      _ = try Self.model.fetchRequestFromTemplate(withName: "x", substitutionVariables: [:])
    } throws: {
      code(of: $0) == .coreData && "\($0)".contains("it has all, between, by, cheap")
    }
  }

  @Test func `variables that a subquery binds need no value`() throws {
    let predicate = try FetchPredicate(
      format: "SUBQUERY(works, $w, $w.price > $PRICE AND $w.title != $w.artist.name).@count > $N")
    #expect(predicate.substitutionVariables == ["PRICE", "N"])
    let filled = try predicate.withSubstitutionVariables(["PRICE": 3, "N": 0, "w": 1])
    #expect(filled.substitutionVariables.isEmpty)
    #expect(
      try filled
        == FetchPredicate(
          format: "SUBQUERY(works, $w, $w.price > 3 AND $w.title != $w.artist.name).@count > 0"))
    #expect {
      try predicate.withSubstitutionVariables([:])
    } throws: {
      ($0 as? FetchPredicateError)?.reason == .missingVariables(["N", "PRICE"])
    }
  }
}
