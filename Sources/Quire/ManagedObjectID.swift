import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Names one object in one store, for as long as the store exists.
///
/// An object that was never saved has a temporary ID, which the save that first writes it replaces
/// by a permanent one. An ID that was taken before is another value than those taken afterwards,
/// and finds the object as they do, in all contexts of the process. IDs can be sent anywhere and
/// compared between contexts.
///
/// ## Example
///
/// From an object of one context to the same one of another:
///
/// ```swift
/// let wave = Artwork(context: context)
/// wave.title = "The Great Wave"
/// print(wave.objectID.isTemporaryID)
/// try context.save()
/// print(wave.objectID.isTemporaryID)
///
/// let other = container.newBackgroundContext()
/// let same = try other.existingObject(with: wave.objectID) as? Artwork
/// print(same?.title ?? "not there")
/// ```
///
/// prints
///
/// ```
/// true
/// false
/// The Great Wave
/// ```
public struct ManagedObjectID: Hashable, Sendable {
  /// The object's entity: the concrete one, never an ancestor.
  public let entity: EntityDescription
  private let place: Place
  /// In a temporary ID a number that this process gives once.
  package let key: Int64

  private enum Place: Sendable {
    case store(StoreIdentity)
    /// Without an identity in comparisons and messages.
    case unsaved(TemporaryIdentity?)
  }

  /// A permanent ID; without a store a temporary one, of no use once the object is saved.
  init(entity: EntityDescription, store: StoreIdentity?, key: Int64) {
    self.entity = entity
    self.key = key
    place = store.map { .store($0) } ?? .unsaved(nil)
  }

  /// A temporary ID that finds the object after it is saved.
  init(entity: EntityDescription, temporaryKey: Int64) {
    self.entity = entity
    key = temporaryKey
    place = .unsaved(TemporaryIdentity.of(temporaryKey))
  }

  /// A temporary ID that no object has or will have.
  package static func ofNoObject() -> ManagedObjectID {
    ManagedObjectID(
      entity: EntityDescription(unresolved: ""), store: nil, key: takeTemporaryKey())
  }

  /// The store's UUID; `nil` in a temporary ID.
  var store: StoreIdentity? {
    switch place {
    case .store(let identity): identity
    case .unsaved: nil
    }
  }

  /// Whether the object had never been saved when the ID was taken.
  public var isTemporaryID: Bool { store == nil }

  /// The permanent ID, if this is a temporary one and the object was saved since.
  var permanent: ManagedObjectID {
    guard case .unsaved(let identity?) = place, let saved = identity.savedPlace else { return self }
    return ManagedObjectID(
      entity: saved.entity ?? entity, store: saved.store, key: saved.key)
  }

  public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
    left.key == right.key && left.store == right.store
      && (left.entity === right.entity || left.entity.name == right.entity.name)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(store)
  }

  private static let temporaryKeys = Atomic<Int64>(0)

  /// A number no temporary ID of this process has.
  static func takeTemporaryKey() -> Int64 {
    temporaryKeys.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Tells the temporary IDs of this process from those of others.
  private static let processUUID = UUID()

  /// `x-coredata://STORE/Entity/p12`, or for a temporary ID `x-coredata:///Entity/tPROCESS12` until
  /// the object is saved.
  public func uriRepresentation() -> URL {
    permanent.ownURI
  }

  private var ownURI: URL {
    var url = URL(string: "x-coredata://\(store.map { UUID($0).uuidString } ?? "")")
    url?.append(path: entity.name)
    url?.append(path: isTemporaryID ? "t\(Self.processUUID.uuidString)\(key)" : "p\(key)")
    // A scheme and a UUID always make a URL; the alternative is here for the compiler.
    return url ?? URL(filePath: "/")
  }
}

extension ManagedObjectID: CustomStringConvertible {
  public var description: String {
    let id = permanent
    return "\(entity.name)/\(id.isTemporaryID ? "t" : "p")\(id.key)"
  }
}

extension UUID {
  init(_ identity: StoreIdentity) {
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: identity.high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: identity.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: bytes)
  }
}

extension StoreIdentity {
  init(_ uuid: UUID) {
    self = withUnsafeBytes(of: uuid.uuid) {
      StoreIdentity(
        high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }
}

extension ManagedObjectID: PredicateConvertible {
  public var predicateValue: PredicateValue? { .object(OpaqueIdentity(permanent)) }
}

extension OpaqueIdentity {
  /// The ID of the object, if it is one of a context.
  var objectID: ManagedObjectID? { base(as: ManagedObjectID.self) }
}
