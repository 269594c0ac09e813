import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CodingUserInfoKey {
  /// The ``PersistentStoreCoordinator`` with which a decoder finds the entities of
  /// ``ManagedObjectID``s. Set it in the decoder's `userInfo`.
  public static let persistentStoreCoordinator =
    CodingUserInfoKey(rawValue: "Quire.persistentStoreCoordinator").unsafelyUnwrapped
}

/// Encoding of an ID as its URI (``ManagedObjectID/uriRepresentation()``).
///
/// Decoding needs a coordinator that has the ID's store (``CodingUserInfoKey``
/// `persistentStoreCoordinator`). Encoding the ID of an object that is not saved is an error, as
/// only its context can resolve it; see ``ManagedObjectContext/obtainPermanentIDs(for:)``.
extension ManagedObjectID: Codable {
  public func encode(to encoder: any Encoder) throws {
    guard !permanent.isTemporaryID else {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath,
          debugDescription: "the ID \(self) is temporary: save the object, or obtain a permanent ID"
        ))
    }
    var container = encoder.singleValueContainer()
    try container.encode(uriRepresentation().absoluteString)
  }

  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    func failure(_ reason: String) -> DecodingError {
      .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
    }
    guard
      let coordinator = decoder.userInfo[.persistentStoreCoordinator]
        as? PersistentStoreCoordinator
    else {
      throw failure(
        "IDs are decoded with a coordinator: set persistentStoreCoordinator in the decoder's userInfo"
      )
    }
    guard let url = URL(string: text),
      let id = coordinator.managedObjectID(forURIRepresentation: url)
    else { throw failure("\(text) is no ID of the coordinator's store and model") }
    self = id
  }
}

extension PersistentStoreCoordinator: ObjectIdentityDecoding {
  package func identity(from decoder: any Decoder) throws -> OpaqueIdentity {
    OpaqueIdentity(try ManagedObjectID(from: decoder))
  }
}

extension ManagedObjectID {
  /// The store of the object, if a coordinator of this process has it open; `nil` for an object
  /// that was not saved.
  ///
  /// An ID has the UUID of a store. If several coordinators have such a store open, it is the one
  /// that was added first; `PersistentStoreCoordinator.persistentStore(for:)` looks in a single
  /// one.
  public var persistentStore: PersistentStore? {
    permanent.store.flatMap { AddedStores.first(with: $0) }
  }
}

extension PersistentStoreCoordinator {
  /// The coordinator's store that an ID belongs to; `nil` if it belongs to none of them.
  public func persistentStore(for objectID: ManagedObjectID) -> PersistentStore? {
    stores.first { $0.identity == objectID.permanent.store }
  }
}
