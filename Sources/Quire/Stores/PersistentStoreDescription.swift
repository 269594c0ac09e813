import QuireModel
import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What store a container is to open, where, and how.
///
/// An object, as Core Data's is, so that it can be changed where it lies in
/// ``PersistentContainer/persistentStoreDescriptions``. It can be used from anywhere at once; what
/// is changed after loading began has no effect.
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

  /// A store in a file, which is created where it is missing, and migrated where it is of an
  /// earlier version.
  public init(url: URL) { state.withLock { $0.url = url } }

  /// The file; without a meaning for a store in memory.
  public var url: URL? {
    get { state.withLock { $0.url } }
    set { state.withLock { $0.url = newValue } }
  }

  public var type: StoreType {
    get { state.withLock { $0.type } }
    set { state.withLock { $0.type = newValue } }
  }

  /// The name of the model's configuration that the store is for; `nil` for all entities.
  public var configuration: String? {
    get { state.withLock { $0.configuration } }
    set { state.withLock { $0.configuration = newValue } }
  }

  /// Whether the store is opened off the thread that asks for it; `false` unless set. See
  /// ``PersistentContainer/loadPersistentStores(completionHandler:)``.
  public var shouldAddStoreAsynchronously: Bool {
    get { state.withLock { $0.addsAsynchronously } }
    set { state.withLock { $0.addsAsynchronously = newValue } }
  }

  /// All options, those with names and those without.
  public var options: PersistentStoreOptions {
    get { state.withLock { $0.options } }
    set { state.withLock { $0.options = newValue } }
  }

  public var isReadOnly: Bool {
    get { options.isReadOnly }
    set { state.withLock { $0.options.isReadOnly = newValue } }
  }

  /// Whether a store of an earlier version is migrated; `true` unless set.
  public var shouldMigrateStoreAutomatically: Bool {
    get { options.migratesAutomatically }
    set { state.withLock { $0.options.migratesAutomatically = newValue } }
  }

  /// Whether how to migrate is inferred; `true` unless set.
  public var shouldInferMappingModelAutomatically: Bool {
    get { options.infersMappingModel }
    set { state.withLock { $0.options.infersMappingModel = newValue } }
  }

  /// See ``PersistentStoreOptions/timeout``; 0 unless set.
  public var timeout: Double {
    get { options.timeout }
    set { state.withLock { $0.options.timeout = newValue } }
  }

  /// Sets an option by its name, `nil` for what it is without being set. A name that is none, or a
  /// value that cannot be, is an error when the store is loaded.
  public func setOption(_ value: Any?, forKey key: PersistentStoreOption) {
    var options = options
    options.set(value, for: key)
    state.withLock { $0.options = options }
  }

  /// The same, with the option's name as a text.
  public func setOption(_ value: Any?, forKey key: String) {
    setOption(value, forKey: PersistentStoreOption(rawValue: key))
  }
}

extension PersistentStoreDescription: CustomStringConvertible {
  public var description: String {
    "\(type.rawValue) at \(type == .inMemory ? "memory" : url?.absoluteString ?? "no URL")"
  }
}
