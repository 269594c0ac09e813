import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The store that a container is to open: where, and with which options.
///
/// It is a class, as in Core Data, so that elements of
/// ``PersistentContainer/persistentStoreDescriptions`` can be changed in place. It can be used from
/// several threads; changes after loading has begun have no effect.
public final class PersistentStoreDescription: Sendable {
  private struct State {
    var url: URL?
    var type = StoreType.quire
    var configuration: String?
    var addsAsynchronously = false
    var options = PersistentStoreOptions.migrating
  }

  private let state = Mutex(State())

  /// A store in memory, without migration.
  public convenience init() {
    self.init(url: URL(filePath: "/dev/null"))
    type = .inMemory
  }

  /// A store in a file, which is created if it does not exist, and migrated if it has an earlier
  /// version.
  public init(url: URL) { state.withLock { $0.url = url } }

  /// The file; ignored for a store in memory.
  public var url: URL? {
    get { state.withLock { $0.url } }
    set { state.withLock { $0.url = newValue } }
  }

  /// Whether the store is a file, in memory, or of another make.
  public var type: StoreType {
    get { state.withLock { $0.type } }
    set { state.withLock { $0.type = newValue } }
  }

  /// The name of the model's configuration that the store is for; `nil` for all entities.
  public var configuration: String? {
    get { state.withLock { $0.configuration } }
    set { state.withLock { $0.configuration = newValue } }
  }

  /// Whether the store is opened on another thread than the calling one; `false` by default. See
  public var shouldAddStoreAsynchronously: Bool {
    get { state.withLock { $0.addsAsynchronously } }
    set { state.withLock { $0.addsAsynchronously = newValue } }
  }

  /// All options, those with properties here and all others.
  public var options: PersistentStoreOptions {
    get { state.withLock { $0.options } }
    set { state.withLock { $0.options = newValue } }
  }

  /// Whether the file is only read: ``PersistentStoreOptions/isReadOnly`` of the ``options``.
  public var isReadOnly: Bool {
    get { options.isReadOnly }
    set { state.withLock { $0.options.isReadOnly = newValue } }
  }

  /// Whether several processes write the store in turn: ``PersistentStoreOptions/isShared`` of the
  /// ``options``.
  public var isShared: Bool {
    get { options.isShared }
    set { state.withLock { $0.options.isShared = newValue } }
  }

  /// Whether a store of an earlier version is migrated; `true` by default.
  public var shouldMigrateStoreAutomatically: Bool {
    get { options.migratesAutomatically }
    set { state.withLock { $0.options.migratesAutomatically = newValue } }
  }

  /// Whether mappings are inferred for migrations; `true` by default.
  public var shouldInferMappingModelAutomatically: Bool {
    get { options.infersMappingModel }
    set { state.withLock { $0.options.infersMappingModel = newValue } }
  }

  /// See ``PersistentStoreOptions/timeout``; 0 by default.
  public var timeout: Double {
    get { options.timeout }
    set { state.withLock { $0.options.timeout = newValue } }
  }

  /// Sets an option by its name; `nil` restores its default. An unknown name or an invalid value is
  /// reported when the store is loaded.
  public func setOption(_ value: Any?, forKey key: PersistentStoreOption) {
    var options = options
    options.set(value, for: key)
    state.withLock { $0.options = options }
  }

  /// The same with the option's name as a string.
  public func setOption(_ value: Any?, forKey key: String) {
    setOption(value, forKey: PersistentStoreOption(rawValue: key))
  }
}

extension PersistentStoreDescription: CustomStringConvertible {
  public var description: String {
    "\(type.rawValue) at \(type == .inMemory ? "memory" : url?.absoluteString ?? "no URL")"
  }
}
