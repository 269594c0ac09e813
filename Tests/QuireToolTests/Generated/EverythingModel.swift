import Foundation
import Quire

/// The model Everything.
enum EverythingModel {
  static func make() throws -> ManagedObjectModel {
    let model = try ManagedObjectModel(
      versionIdentifiers: ["1", "one"],
      userInfo: ["owner": "a \"museum\"\n", "place": #"C:\museum"#]
    ) {
      Entity("Article", class: "Shop.EveryArticle", renamedFrom: "Item", versionHashModifier: "2") {
        Attribute("active", .boolean, optional: false, default: true)
        Attribute("amount", .integer16, optional: false, default: 3, range: 0...5)
        Attribute("count32", .integer32, default: -7, range: ...(-1))
        Attribute("count64", .integer64, range: 1...)
        Attribute("tooLarge", .integer16, default: 70000)
        Attribute("price", .double, optional: false, default: 0, range: 0.5...99.5)
        Attribute("weight", .float, default: 0.25)
        Attribute("endless", .double, default: .double(.infinity))
        Attribute("cost", .decimal, optional: false, default: 0.1)
        Attribute("wholeCost", .decimal, default: 12)
        Attribute(
          "longCost", .decimal,
          default: .decimal(Decimal(string: "1234567890123456789012345.678")!))
        Attribute("mixedLimits", .double).with {
          $0.validation.minimum = "0"
          $0.validation.maximum = "0.5"
        }
        Attribute(
          "title", .string, optional: false, default: "Untitled", length: 1...200,
          pattern: #"[^\s"].*"#, renamedFrom: "name", versionHashModifier: "3")
        Attribute("_title", .string)
        Attribute("class", .string, indexed: true)
        Attribute("default", .string).with { $0.usesScalarValueType = true }
        Attribute("description", .string)
        Attribute("short description", .string)
        Attribute("added", .date, default: .date(Date(timeIntervalSinceReferenceDate: 86400.5)))
        Attribute("opened", .date, range: Date(timeIntervalSinceReferenceDate: 0)...)
        Attribute("period", .date).with {
          $0.validation.earliestDate = Date(timeIntervalSinceReferenceDate: 0)
          $0.validation.latestDate = Date(timeIntervalSinceReferenceDate: 1000)
        }
        Attribute("scan", .binaryData, default: .binary(Data([1, 2])), storedExternally: true)
        Attribute(
          "identifier", .uuid, optional: false,
          default: .uuid(UUID(uuidString: "DEADBEEF-0000-0000-0000-000000000001")!))
        Attribute(
          "page", .uri, default: .uri(URL(string: "https://example.org/a")!), transient: true)
        Attribute("home", .uri, optional: false)
        Attribute("tags", .transformable, transformer: "Tags", valueClass: "TagList")
        Attribute("bytes", .transformable, optional: false)
        Attribute("other", .objectID)
        Attribute("anything", .undefined, transient: true)
        Attribute("size", .composite, default: .composite(["height": 2, "width": 1.0])) {
          Attribute("width", .double, default: 1)
          Attribute("height", .integer32)
        }
        Attribute("sold", .integer64, derivedFrom: "sales.@count")
        Attribute(
          "soldOrNone", .integer64, optional: false, default: 0, derivedFrom: "sales.@count")
        Attribute("note", .string, userInfo: ["label": "A note"]).with {
          $0.preservesValueInHistoryOnDeletion = true
          $0.isIndexedBySpotlight = true
          $0.allowsCloudEncryption = true
        }
        Attribute("kept", .string).with { $0.preservesValueInHistoryOnDeletion = true }
        Attribute("slug", .string)
        Relationship(
          "sales", toMany: "Sale", inverse: "article", count: 0...10, deleteRule: .cascade)
        Relationship("shelves", toMany: "Shelf", inverse: "articles", ordered: true)
        Relationship("similar", toMany: "Article", inverse: "similar")
        Relationship("next", toOne: "Article", inverse: "previous")
        Relationship("previous", toOne: "Article", inverse: "next")
        Relationship("maker", toOne: "Maker", deleteRule: .noAction, minCount: 1)
        Relationship("seen", toMany: "Maker", optional: false, transient: true).with {
          $0.isIndexedBySpotlight = true
        }
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
        FetchIndex("bySlug", on: "slug")
        FetchIndex(
          "byPrice", on: .descending("price"), "title",
          .expression("canonical:(title)", type: "String", ascending: false), where: "price > 0",
          userInfo: ["why": "lists"])
        FetchIndex("byPlace", on: .rTree("price"), .rTree("weight")).with {
          $0.elements[1].isAscending = false
        }
        UniquenessConstraint("slug")
        UniquenessConstraint("title", "maker")
      }
      Entity("Maker", class: "EveryMaker", abstract: true, userInfo: ["kind": "person"]) {
        Attribute("name", .string, length: 1...)
        Relationship("favorite", toOne: "Article", optional: false, renamedFrom: "best")
      }.with { $0.coreSpotlightDisplayNameExpression = "name" }
      Entity("Sale", class: "EverySale", parent: "Sold") {
        Relationship(
          "article", toOne: "Article", inverse: "sales", deleteRule: .deny, optional: false)
      }
      Entity("Shelf", class: "Shelf") {
        Relationship(
          "articles", toMany: "Article", inverse: "shelves", userInfo: ["label": "Goods"])
      }
      Entity("Sold", class: "EverySold")
      Entity("Workshop", parent: "Maker")
      ModelConfiguration("Cloud", "Article", "Maker")
      ModelConfiguration("Empty")
      FetchRequestTemplate("all", of: "Article")
      FetchRequestTemplate(
        "cheap", of: "Article", where: "price < $LIMIT",
        sortedBy: [FetchSortDescriptor(key: "price")], limit: 5, includesSubentities: false,
        userInfo: ["a": "b"]
      ).with {
        $0.resultType = 2
        $0.includesPropertyValues = false
        $0.includesPendingChanges = false
        $0.returnsDistinctResults = true
      }
    }
    return try model.settingLocalizationDictionary(
      ["Entity/Article": "Ware", "Property/title/Entity/Article": "Title"])
  }
}
