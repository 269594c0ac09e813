import Foundation
import Quire

final class EveryArticle: ManagedObject {
  override class var modelEntityName: String { "Article" }

  @Managed var active: Bool = true
  @Managed(range: 0...5) var amount: Int16 = 3
  @Managed(range: ...(-1)) var count32: Int32? = -7
  @Managed(range: 1...) var count64: Int?
  @Managed var tooLarge: Int16?
  @Managed(range: 0.5...99.5) var price: Double = 0
  @Managed var weight: Float? = 0.25
  @Managed var endless: Double? = Double.infinity
  @Managed var cost: Decimal = Decimal(string: "0.1")!
  @Managed var wholeCost: Decimal? = 12
  @Managed var longCost: Decimal? = Decimal(string: "1234567890123456789012345.678")
  @Managed var mixedLimits: Double?
  @Managed(length: 1...200, pattern: #"[^\s"].*"#, renamedFrom: "name", versionHashModifier: "3")
  var title: String = "Untitled"
  @Managed var `class`: String?
  @Managed var `default`: String?
  @Managed var added: Date? = Date(timeIntervalSinceReferenceDate: 86400.5)
  @Managed(range: Date(timeIntervalSinceReferenceDate: 0)...) var opened: Date?
  @Managed var period: Date?
  @Managed(.external) var scan: Data? = Data([1, 2])
  @Managed var identifier: UUID = UUID(uuidString: "DEADBEEF-0000-0000-0000-000000000001")!
  @Managed(.transient) var page: URL? = URL(string: "https://example.org/a")
  @Managed var home: URL?
  @Managed var tags: Data?
  @Managed var bytes: Data
  @Managed var other: URL?
  @Managed(derivedFrom: "sales.@count") var sold: Int?
  @Managed var soldOrNone: Int
  @Managed var note: String?
  @Managed(.keptInHistory) var kept: String?
  @Managed([.unique, .indexed]) var slug: String?
  @Managed(inverse: \EverySale.article, deleteRule: .cascade, count: 0...10)
  var sales: Set<EverySale>
  @Managed(inverse: \Shelf.articles) var shelves: [Shelf]
  @Managed(inverse: "similar") var similar: Set<EveryArticle>
  @Managed(inverse: \EveryArticle.previous) var next: EveryArticle?
  @Managed var previous: EveryArticle?
  @Managed(inverse: nil, deleteRule: .noAction, minCount: 1) var maker: EveryMaker?
  @Managed var seen: Set<EveryMaker>

  override class var entityDeclaration: Entity? {
    Entity("Article", renamedFrom: "Item", versionHashModifier: "2") {
      Attribute("tooLarge", .integer16, default: 70000)
      Attribute("mixedLimits", .double).with {
        $0.validation.minimum = "0"
        $0.validation.maximum = "0.5"
      }
      // No property “_title”: Swift keeps the property “title” under this name.
      Attribute("_title", .string)
      // No property “description”: every object has one of this name.
      Attribute("description", .string)
      // No property “short description”: Swift has no such names.
      Attribute("short description", .string)
      Attribute("period", .date).with {
        $0.validation.earliestDate = Date(timeIntervalSinceReferenceDate: 0)
        $0.validation.latestDate = Date(timeIntervalSinceReferenceDate: 1000)
      }
      Attribute("home", .uri, optional: false)
      // The property has bytes; as a TransformableValue it has the value.
      Attribute("tags", .transformable, transformer: "Tags", valueClass: "TagList")
      // The property has bytes; as a TransformableValue it has the value.
      Attribute("bytes", .transformable, optional: false)
      Attribute("other", .objectID)
      // No property “anything”: an attribute of the type undefined has none.
      Attribute("anything", .undefined, transient: true)
      // No property “size”: an attribute of the type composite has none.
      Attribute("size", .composite, default: .composite(["height": 2, "width": 1.0])) {
        Attribute("width", .double, default: 1)
        Attribute("height", .integer32)
      }
      Attribute("soldOrNone", .integer64, optional: false, default: 0, derivedFrom: "sales.@count")
      Attribute("note", .string, userInfo: ["label": "A note"]).with {
        $0.preservesValueInHistoryOnDeletion = true
      }
      Relationship("seen", toMany: "Maker", optional: false, transient: true)
      FetchedProperty(
        "namesakes", of: "Article", where: #"title == $FETCH_SOURCE.title AND slug != "x""#,
        sortedBy: [
          FetchSortDescriptor(
            key: "maker.name", ascending: false,
            options: [.caseInsensitive, .diacriticInsensitive], absentValues: .last),
          FetchSortDescriptor(key: "slug", options: .natural),
        ],
        limit: 10, renamedFrom: "twins", versionHashModifier: "4", userInfo: ["a": "b"]
      ).with {
        $0.isOptional = false
        $0.request.includesSubentities = false
        $0.request.fetchBatchSize = 20
        $0.request.returnsObjectsAsFaults = false
      }
      FetchIndex(
        "byPrice", on: .descending("price"), "title",
        .expression("canonical:(title)", type: "String", ascending: false), where: "price > 0",
        userInfo: ["why": "lists"])
      FetchIndex("byPlace", on: .rTree("price"), .rTree("weight")).with {
        $0.elements[1].isAscending = false
      }
      UniquenessConstraint("title", "maker")
    }
  }
}
