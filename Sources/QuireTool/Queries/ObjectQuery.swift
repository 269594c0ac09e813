import Foundation
import Quire
import QuireModel

/// The objects of a store to find, and their order: the options of `query` and `explain`.
struct ObjectQuery {
  static let options: [CommandSyntax.Option] = [
    .init("entity", "NAME", "the entity whose objects are asked for", isRequired: true),
    .init("where", "FORMAT", "a predicate format that must be true of them"),
    .init("sort", "KEYS", "keys of their order, k,-k: descending with a hyphen"),
    .init("limit", "N", "at most so many"),
    .init("offset", "N", "without the first N"),
  ]

  let store: URL
  let entityName: String
  private let format: String?
  let sort: [SortKey]
  /// `nil` for all.
  let limit: Int?
  let offset: Int

  struct SortKey {
    let name: String
    let ascending: Bool
  }

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    entityName = arguments.requiredValue(of: "entity")
    format = arguments.value(of: "where")
    var sort: [SortKey] = []
    for word in try arguments.list(of: "sort") {
      let name = word.hasPrefix("-") ? String(word.dropFirst()) : word
      if name.isEmpty { throw arguments.wrong("--sort has a hyphen without a key.") }
      sort.append(SortKey(name: name, ascending: name == word))
    }
    self.sort = sort
    limit = try arguments.count(of: "limit")
    offset = try arguments.count(of: "offset") ?? 0
    if limit == 0 { throw arguments.wrong("--limit takes a number from 1.") }
  }

  /// The request, without order and limit.
  func unorderedRequest(
    in context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws -> FetchRequest<ManagedObject> {
    let entity = try Tool.entity(named: entityName, of: model)
    var request = FetchRequest<ManagedObject>(entityName: entity.name)
    request.predicate = try format.map { try predicate($0, of: entity, in: context, model) }
    return request
  }

  func request(
    in context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws -> FetchRequest<ManagedObject> {
    var request = try unorderedRequest(in: context, model)
    request.sortDescriptors = sort.map {
      FetchSortDescriptor(key: $0.name, ascending: $0.ascending)
    }
    request.fetchLimit = limit ?? 0
    request.fetchOffset = offset
    return request
  }

  private func predicate(
    _ format: String, of entity: EntityDescription, in context: ManagedObjectContext,
    _ model: ManagedObjectModel
  ) throws -> FetchPredicate {
    let predicate: FetchPredicate
    do {
      predicate = try Condition.predicate(format, of: entity, in: context, model)
    } catch let error as Condition.Unreadable {
      throw InputError(
        """
        --where cannot be read: expected \(error.expected) at column \(error.offset + 1), but found \
        \(error.found)
          \(String(format.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
          \(String(repeating: " ", count: error.offset))^
        """)
    }
    let variables = predicate.substitutionVariables.sorted().map { "$" + $0 }
    guard variables.isEmpty else {
      throw InputError(
        "--where has variables, for which there is no value here: "
          + variables.joined(separator: ", "))
    }
    return predicate
  }
}
