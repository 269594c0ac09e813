import Foundation
import Quire
import QuireModel

/// An object as it is named on a command line.
///
/// `Artwork/p12`, as results print it; `Artwork/12`; the URI `x-coredata://STORE/Artwork/p12`; and
/// the address of the object in a page of `quire show`, `gallery.html#/object/Artwork/12`.
struct ObjectName {
  let entityName: String
  let key: Int64
  /// The store that a URI names.
  private let storeIdentifier: UUID?

  /// - Returns: `nil` for a text that names no object.
  init?(_ text: String) {
    var path = text[...]
    var isEncoded = true
    var storeIdentifier: UUID?
    if let start = text.range(of: "x-coredata://", options: .anchored) {
      let rest = text[start.upperBound...]
      guard let slash = rest.firstIndex(of: "/"), let store = UUID(uuidString: "\(rest[..<slash])")
      else { return nil }
      storeIdentifier = store
      path = rest[rest.index(after: slash)...]
    } else if let start = text.range(of: "#/object/") {
      path = text[start.upperBound...].prefix { $0 != "?" }
    } else {
      isEncoded = false
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    let digits = parts[1].hasPrefix("p") ? parts[1].dropFirst() : parts[1]
    guard let key = Int64(digits), key > 0, digits.first != "+" else { return nil }
    entityName = isEncoded ? parts[0].removingPercentEncoding ?? "\(parts[0])" : "\(parts[0])"
    self.key = key
    self.storeIdentifier = storeIdentifier
  }

  /// What a text should have been that names no object.
  static let expectation =
    "an object is called such as Artwork/12, by its URI x-coredata://…, or by its address in a page "
    + "of quire show, …#/object/Artwork/12"

  /// The object that a text names.
  ///
  /// - Throws: an error for a text that names no object, for an entity that the model does not
  ///   have, and where there is no such object in the store.
  static func object(
    _ text: String, in context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws -> ManagedObject {
    guard let name = ObjectName(text) else {
      throw InputError("“\(text.cut(to: 80))” is no object: \(expectation)")
    }
    if let object = try name.find(in: context, model) { return object }
    throw InputError("there is no object \(name.entityName)/\(name.key) in the store")
  }

  /// The object; `nil` if the store has none of this name.
  ///
  /// The entity may be an ancestor of the object's own.
  func find(in context: ManagedObjectContext, _ model: ManagedObjectModel) throws -> ManagedObject?
  {
    for id in try identifiers(in: context, model) {
      do {
        let object = try context.existingObject(with: id)
        return object.isDeleted ? nil : object
      } catch let error as PersistenceError
        where error.code == .managedObjectReferentialIntegrity
      { continue }
    }
    return nil
  }

  /// The ID that a condition compares: that of the object, or one that no object has if there is
  /// none of the name.
  func identifier(
    in context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws -> ManagedObjectID? {
    try find(in: context, model)?.objectID ?? identifiers(in: context, model).first
  }

  /// The IDs that the object may have, with the entity named and its subentities.
  private func identifiers(
    in context: ManagedObjectContext, _ model: ManagedObjectModel
  ) throws -> [ManagedObjectID] {
    let entity = try Tool.entity(named: entityName, of: model)
    guard let coordinator = context.persistentStoreCoordinator,
      let store = coordinator.persistentStores.first?.identifier
    else { return [] }
    if let storeIdentifier, storeIdentifier != store {
      throw InputError(
        "\(entityName)/p\(key) is an object of the store \(storeIdentifier), and this one is \(store)"
      )
    }
    return model.family(of: entity).filter { !$0.isAbstract }.compactMap { member in
      URL(string: "x-coredata://\(store.uuidString)")?.appending(path: member.name)
        .appending(path: "p\(key)")
    }.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) }
  }
}
