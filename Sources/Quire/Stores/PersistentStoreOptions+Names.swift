import QuireModel
import QuireStorage

// Options by Core Data's names, with values of any type.

extension PersistentStoreOptions {
  /// Sets an option by its name; `nil` restores its default.
  public mutating func set(_ value: Any?, for option: PersistentStoreOption) {
    mistakes[option] = nil
    unknownOptions.remove(option)
    switch option {
    case MigratePersistentStoresAutomaticallyOption:
      take(value, option, \.migratesAutomatically, false, Self.flag, "a Bool")
    case InferMappingModelAutomaticallyOption:
      take(value, option, \.infersMappingModel, false, Self.flag, "a Bool")
    case ReadOnlyPersistentStoreOption:
      take(value, option, \.isReadOnly, false, Self.flag, "a Bool")
    case PersistentStoreDeferredLightweightMigrationOptionKey:
      take(value, option, \.defersLightweightMigration, false, Self.flag, "a Bool")
    case SQLiteManualVacuumOption:
      take(value, option, \.compactsStore, false, Self.flag, "a Bool")
    case PersistentStoreForceDestroyOption:
      take(value, option, \.forcesDestruction, false, Self.flag, "a Bool")
    case PersistentHistoryTrackingKey:
      take(value, option, \.tracksHistory, nil, { Self.flag($0).map(Optional.some) }, "a Bool")
    case PersistentStoreTimeoutOption:
      take(value, option, \.timeout, 0, Self.seconds, "a number of seconds, not below 0")
    case PersistentStoreStagedMigrationManagerOptionKey:
      take(
        value, option, \.staging, nil, { ($0 as? any MigrationStaging).map(Optional.some) },
        "a StagedMigrationManager")
    case SQLitePragmasOption:
      take(
        value, option, \.durability, .full, Self.durability,
        "a dictionary, with OFF, NORMAL, FULL or EXTRA for synchronous")
    case IgnorePersistentStoreVersioningOption:
      if let value, Self.flag(value) != false {
        mistakes[option] =
          "a store can only be read by the version of the model that wrote it: migrate it instead"
      }
    case _ where PersistentStoreOption.meaningless.contains(option): break
    default:
      if value != nil { unknownOptions.insert(option) }
    }
  }

  /// Accepts options that Quire does not have, as Core Data accepts any: they are the application's
  /// own, or of its older versions.
  package mutating func ignoreUnknownOptions() { unknownOptions = [] }

  private mutating func take<Value>(
    _ value: Any?, _ option: PersistentStoreOption,
    _ property: WritableKeyPath<PersistentStoreOptions, Value>, _ normal: Value,
    _ convert: (Any) -> Value?, _ expected: String
  ) {
    guard let value else {
      self[keyPath: property] = normal
      return
    }
    if let converted = convert(value) {
      self[keyPath: property] = converted
    } else {
      mistakes[option] =
        "it must be \(expected), and is \(valueText(value)) of the type \(type(of: value))"
    }
  }

  private static func flag(_ value: Any) -> Bool? {
    value as? Bool ?? (value as? Int).map { $0 != 0 }
  }

  private static func seconds(_ value: Any) -> Double? {
    (value as? Double ?? (value as? Int).map { Double($0) }).flatMap { $0 >= 0 ? $0 : nil }
  }

  private static func durability(_ value: Any) -> Durability? {
    guard let pragmas = value as? [String: Any] else { return nil }
    guard let synchronous = pragmas["synchronous"] else { return .full }
    return switch "\(synchronous)".uppercased() {
    case "OFF", "0": Durability.none
    case "NORMAL", "1": .ordered
    case "FULL", "2", "EXTRA", "3": .full
    default: nil
    }
  }

  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` (134070) that names every unknown
  ///   option, and every option with an invalid value.
  func check() throws(PersistenceError) {
    if mistakes.isEmpty, unknownOptions.isEmpty { return }
    let unknown = unknownOptions.map { "\($0.rawValue): there is no such option" }
    let texts = (mistakes.map { "\($0.key.rawValue): \($0.value)" } + unknown).sorted()
    throw PersistenceError(
      .persistentStoreOperation,
      "the options for the store are wrong: \(texts.joined(separator: "; "))")
  }
}
