import Quire
import QuireModel

extension JSONValue {
  /// A fetch, explained: as ``FetchExplanation`` has it.
  init(_ explanation: FetchExplanation) {
    self = [
      "entity": .string(explanation.entityName),
      "where": JSONValue(explanation.predicate?.description),
      "sort": JSONValue(explanation.sortDescriptors.map { ($0.ascending ? "" : "-") + $0.key }),
      "limit": JSONValue(explanation.fetchLimit),
      "offset": JSONValue(explanation.fetchOffset),
      "objects": JSONValue(explanation.objectCount),
      "searches": .array(explanation.searches.map { JSONValue($0) }),
    ]
  }

  private init(_ search: FetchExplanation.Search) {
    var order = "none"
    var kept: Int?
    switch search.order {
    case .none: break
    case .source: order = "source"
    case .sort(let count): (order, kept) = ("sort", count)
    }
    self = [
      "store": .string(search.storeIdentifier.uuidString),
      "source": JSONValue(search.source),
      "filter": JSONValue(search.filter?.description),
      "order": .string(order),
      "kept": kept.map { JSONValue($0) } ?? .null,
      "rows": JSONValue(search.rowCount),
      "expectedRows": JSONValue(search.expectedRowCount),
      "matches": JSONValue(search.matchCount),
      "expectedMatches": JSONValue(search.expectedMatchCount),
      "endedEarly": JSONValue(search.endedEarly),
      "abandonedRows": JSONValue(search.abandonedRowCount),
      "isCountedByKeys": JSONValue(search.isCountedByKeys),
    ]
  }

  private init(_ source: FetchExplanation.Source) {
    var members: [(String, JSONValue)] =
      switch source.kind {
      case .allRows(let names): [("kind", "allRows"), ("entities", JSONValue(names))]
      case .index(let name): [("kind", "index"), ("index", .string(name))]
      case .indexOrder(let name, let isReversed):
        [
          ("kind", "indexOrder"), ("index", .string(name)), ("isReversed", JSONValue(isReversed)),
        ]
      case .namedObjects: [("kind", "namedObjects")]
      case .links(let name): [("kind", "links"), ("relationship", .string(name))]
      case .union: [("kind", "union")]
      case .intersection: [("kind", "intersection")]
      case .otherStore: [("kind", "otherStore")]
      }
    members += [
      ("conditions", JSONValue(source.conditions.map(\.description))),
      ("rows", JSONValue(source.rowCount)),
      ("expectedRows", JSONValue(source.expectedRowCount)),
      ("parts", .array(source.parts.map { JSONValue($0) })),
    ]
    self = .object(members.map { (key: $0.0, value: $0.1) })
  }
}
