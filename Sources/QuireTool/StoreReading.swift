import Foundation
import Quire
import QuireModel

extension Tool {
  /// Runs `body` with a context of a store, and the store's own model, with which it is opened
  /// read-only: nothing is written, and nothing is migrated.
  static func reading<Result>(
    _ store: URL, _ body: (ManagedObjectContext, ManagedObjectModel) throws -> Result
  ) throws -> Result {
    try working(on: store) {
      let model = try PersistentStoreCoordinator.managedObjectModel(storedAt: store)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      let opened = try coordinator.addPersistentStore(
        type: .quire, at: store, options: [ReadOnlyPersistentStoreOption: true])
      defer { try? coordinator.remove(opened) }
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = coordinator
      return try body(context, model)
    }
  }

  /// The entity of this name; for a wrong name, throws an error with the nearest ones, or all.
  static func entity(
    named name: String, of model: ManagedObjectModel
  ) throws -> EntityDescription {
    if let entity = model.entity(named: name) { return entity }
    let names = model.entities.map(\.name)
    let hint =
      Suggestion.question(for: name, among: names) ?? "it has \(names.joined(separator: ", "))"
    throw InputError("the store has no entity \(name); \(hint)")
  }
}
