import Foundation
import QuireCoreData

/// The database of the courier: opens it, migrates it, makes contexts.
public final class Store {
  public let container: NSPersistentContainer
  private let migrator: Migrator
  private var observers: [NSObjectProtocol] = []
  public private(set) var conflicts: [String] = []

  private static let model: NSManagedObjectModel = {
    Transformers.register()
    let url = Bundle.module.url(forResource: "Courier", withExtension: "xcdatamodeld")!
    let model = NSManagedObjectModel(contentsOf: url)!
    Store.addValidation(to: model)
    return model
  }()

  public init(url: URL, migrator: Migrator = Migrator()) throws {
    self.migrator = migrator
    if migrator.requiresMigration(at: url, toVersion: .current) {
      try migrator.migrateStore(at: url, toVersion: .current)
    }
    container = NSPersistentContainer(name: "Courier", managedObjectModel: Store.model)
    let description = NSPersistentStoreDescription(url: url)
    description.shouldInferMappingModelAutomatically = false
    description.shouldMigrateStoreAutomatically = false
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    var failure: Error?
    container.loadPersistentStores { _, error in failure = error }
    if let failure = failure { throw failure }
    container.viewContext.mergePolicy = NSErrorMergePolicy
    observe()
  }

  deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  /// Rules that the editor of models has no field for.
  private static func addValidation(to model: NSManagedObjectModel) {
    guard let parcel = model.entitiesByName["Parcel"],
      let code = parcel.attributesByName["code"],
      let weight = parcel.attributesByName["weightInGrams"]
    else { fatalError("the model has no parcels") }
    code.setValidationPredicates(
      [
        NSPredicate(format: "SELF MATCHES %@", "[A-Z]{2}[0-9]{3,}"),
        NSPredicate(format: "length >= 5 AND length <= 12"),
      ],
      withValidationWarnings: ["code is not of the form AB123", NSValidationStringTooLongError])
    weight.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0 AND SELF < 100000")],
      withValidationWarnings: [NSValidationNumberTooLargeError])
  }

  private func observe() {
    let center = NotificationCenter.default
    observers.append(
      center.addObserver(
        forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
      ) { [weak self] note in
        guard let self = self, let context = note.object as? NSManagedObjectContext,
          context !== self.container.viewContext,
          context.persistentStoreCoordinator === self.container.persistentStoreCoordinator
        else { return }
        self.container.viewContext.perform {
          self.container.viewContext.mergeChanges(fromContextDidSave: note)
        }
      })
  }

  public func newContext() -> NSManagedObjectContext {
    let context = container.newBackgroundContext()
    context.mergePolicy = LoggingMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType) {
      [weak self] text in
      self?.conflicts.append(text)
    }
    context.undoManager = nil
    return context
  }

  /// Work on a context of its own, saved at its end.
  public func write<T>(_ body: @escaping (NSManagedObjectContext) throws -> T) throws -> T {
    let context = newContext()
    return try context.performAndWait {
      let value = try body(context)
      if context.hasChanges { try context.save() }
      return value
    }
  }
}

/// Resolves as its superclass does, and says what it was about.
final class LoggingMergePolicy: NSMergePolicy {
  private let log: (String) -> Void

  init(merge type: NSMergePolicyType, log: @escaping (String) -> Void) {
    self.log = log
    super.init(merge: type)
  }

  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    for conflict in list {
      let values = conflict.constraintValues.map { "\($0.key) = \($0.value)" }.sorted()
      log("\(values.joined(separator: ", ")): \(conflict.conflictingObjects.count) objects")
    }
    try super.resolve(constraintConflicts: list)
  }

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    for conflict in list {
      let name = conflict.sourceObject.entity.name
      log("\(name): version \(conflict.oldVersionNumber) is \(conflict.newVersionNumber)")
    }
    try super.resolve(optimisticLockingConflicts: list)
  }
}
