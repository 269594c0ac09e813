import Foundation
import Quire
import QuireModel
import QuireXcode
import Testing

/// A real store that was imported, beside a copy of the original for SQLite.
final class ImportedStore {
  let original: URL
  let context = ManagedObjectContext()
  private let folder: TemporaryFolder

  /// - Parameter isIndexed: whether every attribute and every to-one relationship gets an index.
  init(_ name: String, isIndexed: Bool = false, classes: [ManagedObject.Type] = []) throws {
    let real = try #require(RealStore.all.first { $0.name == name })
    folder = try TemporaryFolder()
    original = try real.copy(to: folder)
    let url = folder.file("\(name).quire")
    _ = try CoreDataImport(of: try real.url(), in: try real.history()).write(to: url)
    var model = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
    if isIndexed { model = try Self.indexed(model) }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: classes)
    try coordinator.addPersistentStore(type: .quire, at: url)
    context.persistentStoreCoordinator = coordinator
  }

  private static func indexed(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    var declaration = model.declaration
    for index in declaration.entities.indices {
      let entity = declaration.entities[index]
      let toOnes = entity.relationships.filter { !$0.isToMany }
      declaration.entities[index].indexes = (entity.attributes.map(\.name) + toOnes.map(\.name))
        .map { FetchIndex("by \($0)", on: .ascending($0)) }
    }
    return try ManagedObjectModel(declaration)
  }

  /// The keys of objects, as text.
  static func keys(_ ids: some Sequence<ManagedObjectID>) -> [String] {
    ids.map { String($0.uriRepresentation().lastPathComponent.dropFirst()) }
  }

  /// The rows that SQLite finds in the original, their columns separated by bars.
  func rows(_ query: String) throws -> [String] {
    try #require(try SQLiteCommand.columns(of: [query], in: original).first)
  }
}
