import Foundation
import QuireCoreData

/// From one version to the next, with the mapping model for it.
struct MigrationStep {
  let sourceVersion: ModelVersion
  let sourceModel: NSManagedObjectModel
  let destinationModel: NSManagedObjectModel
  let mappingModel: NSMappingModel

  init(from source: ModelVersion, to destination: ModelVersion) throws {
    sourceVersion = source
    sourceModel = source.model
    destinationModel = destination.model
    if let custom = MigrationStep.customMappingModel(
      from: source, sourceModel, to: destination, destinationModel)
    {
      mappingModel = custom
    } else if let written = NSMappingModel(
      from: [Bundle.module], forSourceModel: sourceModel, destinationModel: destinationModel)
    {
      mappingModel = written
    } else {
      mappingModel = try NSMappingModel.inferredMappingModel(
        forSourceModel: sourceModel, destinationModel: destinationModel)
    }
  }

  /// The step to version 2 makes customers of the names that parcels had.
  private static func customMappingModel(
    from source: ModelVersion, _ sourceModel: NSManagedObjectModel,
    to destination: ModelVersion, _ destinationModel: NSManagedObjectModel
  ) -> NSMappingModel? {
    guard source == .one, destination == .two else { return nil }
    let mapping = NSMappingModel()
    mapping.entityMappings = [
      entityMapping(
        "Parcel", from: sourceModel, to: destinationModel, attributes: ["code", "weight"],
        policy: ParcelToParcelPolicy.self, userInfo: ["defaultState": "waiting"]),
      entityMapping(
        "Stop", from: sourceModel, to: destinationModel, attributes: ["address", "arrivedAt"],
        policy: StopPolicy.self, userInfo: nil),
    ]
    return mapping
  }

  private static func entityMapping(
    _ name: String, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    attributes: [String], policy: NSEntityMigrationPolicy.Type, userInfo: [AnyHashable: Any]?
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = "\(name)To\(name)"
    mapping.mappingType = .customEntityMappingType
    mapping.sourceEntityName = name
    mapping.destinationEntityName = name
    mapping.sourceEntityVersionHash = source.entitiesByName[name]?.versionHash
    mapping.destinationEntityVersionHash = destination.entitiesByName[name]?.versionHash
    mapping.entityMigrationPolicyClassName = NSStringFromClass(policy)
    mapping.userInfo = userInfo
    mapping.sourceExpression = NSExpression(
      format: "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", "
        + "\"\(name)\", \"TRUEPREDICATE\"), $manager.sourceContext, NO)")
    mapping.attributeMappings = attributes.map { attribute in
      let property = NSPropertyMapping()
      property.name = attribute
      property.valueExpression = NSExpression(format: "$source.\(attribute)")
      return property
    }
    return mapping
  }
}
