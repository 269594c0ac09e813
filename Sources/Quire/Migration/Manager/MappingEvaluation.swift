import QuireModel

extension MigrationManager {
  /// What an expression of a mapping comes to.
  final func value(
    of expression: MappingExpression, _ property: PropertyMapping?, _ mapping: EntityMapping,
    _ policy: EntityMigrationPolicy, source: ManagedObject?, destination: ManagedObject?
  ) throws -> Any? {
    switch expression {
    case .source(let path): return try source?.value(forKeyPath: path)
    case .destinations(let path, let mappingName):
      let found = try source?.value(forKeyPath: path)
      return try destinationInstances(
        forEntityMappingName: mappingName, sourceInstances: try sources(in: found, path))
    case .closure(let body):
      return try body(
        MappingArguments(
          manager: self, entityMapping: mapping, propertyMapping: property, entityPolicy: policy,
          source: source, destination: destination))
    case .expression(let expression):
      fatalError()
    }
  }

  /// The objects that a value is, or consists of.
  private func sources(in value: Any?, _ path: String) throws -> [ManagedObject] {
    switch value {
    case nil: return []
    case let one as ManagedObject: return [one]
    case let several as [ManagedObject]: return several
    case let several as Set<ManagedObject>:
      return several.sorted { $0.reference < $1.reference }
    case let other?:
      throw PersistenceError(
        .unacceptableValue, "\(path) leads to a \(type(of: other)) instead of objects")
    }
  }
}
