import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// How a container opens one store.
extension PersistentContainer {
  @discardableResult
  final func add(_ description: PersistentStoreDescription) throws -> PersistentStore {
    let type = description.type
    if type.hasFile(at: description.url), let url = description.url {
      try makeDefaultDirectory(for: url)
    }
    return try persistentStoreCoordinator.addPersistentStore(
      type: type, configuration: description.configuration,
      at: type == .inMemory ? nil : description.url, options: description.options)
  }

  /// Nobody was asked to make the folder that nobody has named.
  private func makeDefaultDirectory(for url: URL) throws {
    let folder = type(of: self).defaultDirectoryURL()
    // By components: a subclass may name its folder with a slash at the end or without.
    guard
      url.deletingLastPathComponent().standardizedFileURL.pathComponents
        == folder.standardizedFileURL.pathComponents
    else { return }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .persistentStoreOpen,
        "the folder \(folder.path(percentEncoded: false)) cannot be made: \(error)")
    }
  }
}
