import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ManagedObjectContext {
  /// A context with an empty store of its own in memory, for one test.
  ///
  /// The store ends with the context. Nothing is shared with any other context and no file is made;
  /// otherwise it works like a store in a file.
  public static func stubbed(
    _ model: ManagedObjectModel, classes: [ManagedObject.Type] = [],
    transformers: ValueTransformers = [:]
  ) throws -> sending ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, classes: classes, transformers: transformers)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// A context with an empty store of its own in memory, for the model that classes declare.
  ///
  /// - Parameter classes: as for ``QuireModel/ManagedObjectModel/init(for:)``, which throws what is
  ///   wrong with them.
  public static func stubbed(
    for classes: ManagedObject.Type..., transformers: ValueTransformers = [:]
  ) throws -> sending ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(for: classes, transformers: transformers)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

/// Whether this process was started to run tests.
///
/// An application's main stack can refuse to be touched by a test that forgot to bring its own:
///
/// ```swift
/// static func mainContext() throws -> ManagedObjectContext {
///   if isRunningTests { throw StackError.useAStubbedContext }
///   …
/// }
/// ```
public var isRunningTests: Bool {
  let process = ProcessInfo.processInfo
  let variables = ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCInjectBundle"]
  if variables.contains(where: { process.environment[$0] != nil }) { return true }
  return process.arguments.contains { argument in
    argument.hasSuffix(".xctest") || argument == "--test-bundle-path"
      || argument.hasSuffix("swiftpm-testing-helper")
  }
}
