import Foundation
import QuireCoreData

/// The versions of the model, oldest first.
public enum ModelVersion: String, CaseIterable {
  case one = "Courier"
  case two = "Courier 2"
  case three = "Courier 3"

  public static var current: ModelVersion {
    guard let current = allCases.last else { fatalError("no model versions found") }
    return current
  }

  public func next() -> ModelVersion? {
    switch self {
    case .one: return .two
    case .two: return .three
    case .three: return nil
    }
  }

  public var model: NSManagedObjectModel {
    let subdirectory = "Courier.xcdatamodeld"
    let url =
      Bundle.module.url(
        forResource: rawValue, withExtension: "xcdatamodel", subdirectory: subdirectory)
    guard let url = url, let model = NSManagedObjectModel(contentsOf: url) else {
      fatalError("unable to load model \(rawValue)")
    }
    return model
  }

  public static func compatible(withMetadata metadata: [String: Any]) -> ModelVersion? {
    return allCases.first { version in
      version.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
  }
}

extension NSPersistentStoreCoordinator {
  static func metadata(at url: URL) -> [String: Any]? {
    return try? NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
  }

  static func destroyStore(at url: URL) throws {
    let coordinator = self.init(managedObjectModel: NSManagedObjectModel())
    try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
  }

  static func replaceStore(at target: URL, withStoreAt source: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    try coordinator.replacePersistentStore(
      at: target, destinationOptions: nil, withPersistentStoreFrom: source, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
  }

  @discardableResult
  func addStore(at url: URL, options: [AnyHashable: Any]) throws -> NSPersistentStore {
    return try addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
  }
}
