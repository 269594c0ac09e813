import Foundation
import Quire

/// Executes the mapping of one entity. Override its methods for what expressions cannot do.
///
/// A method that a value expression calls (`FUNCTION($entityPolicy, "total:", $source)`) is called
/// by an override of `call(_:_:)`, as Swift finds no methods by name.
open class NSEntityMigrationPolicy: EntityMigrationPolicy {
  /// Called before all other methods for the mapping.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(try mapping.resolved(), with: manager.quireManager)
  }

  /// Makes the destination objects of a source object.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(
      forSource: sInstance, in: try manager.mapping(of: mapping), manager: manager.quireManager)
  }

  /// Called when all objects of the mapping are made.
  open func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.endInstanceCreation(
      forMapping: try manager.mapping(of: mapping), manager: manager.quireManager)
  }

  /// Sets the relationships of a destination object.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    try super.createRelationships(
      forDestination: dInstance, in: try manager.mapping(of: mapping), manager: manager.quireManager
    )
  }

  /// Called when all relationships of the mapping are set.
  open func endRelationshipCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.endRelationshipCreation(
      forMapping: try manager.mapping(of: mapping), manager: manager.quireManager)
  }

  /// Validates the result; an error ends the migration.
  open func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.performCustomValidation(
      forMapping: try manager.mapping(of: mapping), manager: manager.quireManager)
  }

  /// Called after all other methods for the mapping.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try super.end(try manager.mapping(of: mapping), manager: manager.quireManager)
  }

  // MARK: Calls of Quire's

  /// Calls the method of Core Data's form.
  public final override func begin(
    _ mapping: EntityMapping, with manager: MigrationManager
  ) throws {
    let manager = NSMigrationManager.of(manager)
    try begin(manager.wrapped(mapping), with: manager)
  }

  /// Calls the method of Core Data's form.
  public final override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let manager = NSMigrationManager.of(manager)
    try createDestinationInstances(
      forSource: sInstance as! NSManagedObject, in: manager.wrapped(mapping), manager: manager)
  }

  /// Calls the method of Core Data's form.
  public final override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let manager = NSMigrationManager.of(manager)
    try endInstanceCreation(forMapping: manager.wrapped(mapping), manager: manager)
  }

  /// Calls the method of Core Data's form.
  public final override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let manager = NSMigrationManager.of(manager)
    try createRelationships(
      forDestination: dInstance as! NSManagedObject, in: manager.wrapped(mapping), manager: manager)
  }

  /// Calls the method of Core Data's form.
  public final override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let manager = NSMigrationManager.of(manager)
    try endRelationshipCreation(forMapping: manager.wrapped(mapping), manager: manager)
  }

  /// Calls the method of Core Data's form.
  public final override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let manager = NSMigrationManager.of(manager)
    try performCustomValidation(forMapping: manager.wrapped(mapping), manager: manager)
  }

  /// Calls the method of Core Data's form.
  public final override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    let manager = NSMigrationManager.of(manager)
    try end(manager.wrapped(mapping), manager: manager)
  }
}
