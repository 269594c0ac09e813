#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The kind of a store.
public struct StoreType: RawRepresentable, Hashable, Sendable {
  public var rawValue: String

  /// The type with a raw value. The name of Core Data's SQLite store means ``quire``.
  public init(rawValue: String) { self.rawValue = rawValue == "SQLite" ? "Quire" : rawValue }

  /// A file of Quire's own format.
  ///
  /// At `/dev/null` it is a store in memory, as with Core Data.
  public static let quire = StoreType(rawValue: "Quire")
  /// The same engine without a file: the data are released with the store.
  public static let inMemory = StoreType(rawValue: "InMemory")
  /// The type that Core Data code uses for its durable store: ``quire``.
  public static let sqlite = quire
  /// Core Data's store that is written completely with every save. Adding one is error 134000,
  /// which says what to use instead.
  public static let binary = StoreType(rawValue: "Binary")
  /// Core Data's XML store. Adding one is error 134000, which says what to use instead.
  public static let xml = StoreType(rawValue: "XML")
}

extension StoreType {
  /// The error for a type of which no store can be made.
  var refusal: PersistenceError {
    let reason =
      switch self {
      case .binary, .xml:
        "stores of the type \(rawValue) are read and written whole, and are not made here: use "
          + "StoreType.quire, which is a single file when it is closed"
      default:
        "there is no store type \(rawValue) here: use StoreType.quire (or sqlite) or "
          + "StoreType.inMemory; one of your own is registered with the coordinator"
      }
    return PersistenceError(.persistentStoreInvalidType, reason)
  }

  /// Whether a store of this type at this URL has a file.
  func hasFile(at url: URL?) -> Bool {
    self == .quire && url?.path(percentEncoded: false) != "/dev/null"
  }
}

// Core Data's names, so that code ports by search and replace.
/// Core Data's name of ``StoreType/sqlite``, which is a file of Quire's own format here.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let SQLiteStoreType = StoreType.sqlite
/// Core Data's name of ``StoreType/inMemory``.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let InMemoryStoreType = StoreType.inMemory
/// Core Data's name of ``StoreType/binary``, which cannot be added.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let BinaryStoreType = StoreType.binary
/// Core Data's name of ``StoreType/xml``, which cannot be added.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let XMLStoreType = StoreType.xml
