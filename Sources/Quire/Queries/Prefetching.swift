import QuireModel

extension ManagedObjectContext {
  /// Reads rows and prefetches related objects, as the request of fetched objects asks.
  final func prepare<Result: ManagedObject>(
    _ objects: [Result], for request: FetchRequest<Result>
  ) throws {
    if !request.returnsObjectsAsFaults { try fulfil(objects) }
    for path in request.relationshipKeyPathsForPrefetching {
      try prefetch(FetchExpression.names(in: path), of: objects, path)
    }
  }

  /// Reads the rows of faults, from an incremental store all at once.
  final func fulfil(_ objects: some Sequence<ManagedObject>) throws {
    let faults = objects.filter { $0.isUnread && $0.context === self }
    for session in sessions where faults.contains(where: { $0.session === session }) {
      try session.currentView().incremental?.read(
        faults.lazy.filter { $0.session === session }.map(\.reference))
    }
    for fault in faults { try fault.fulfil() }
  }

  /// Makes an incremental store read the rows behind relationships, each step for all objects at
  /// once. Other stores follow a link by reading a page, so that nothing need be prepared.
  private func prefetch(
    _ names: [String], of objects: [ManagedObject], _ path: String
  ) throws {
    let isIncremental = try sessions.contains { try $0.currentView().incremental != nil }
    guard isIncremental else { return }
    var level = objects
    for name in names {
      try fulfil(level)
      var seen: Set<ManagedObjectID> = []
      level = try level.flatMap { object -> [ManagedObject] in
        let value = try object.value(forKey: name)
        switch value {
        case let one as ManagedObject: return [one]
        case let many as Set<ManagedObject>: return Array(many)
        case let many as [ManagedObject]: return many
        default: return []
        }
      }.filter { seen.insert($0.objectID).inserted }
    }
    try fulfil(level)
  }

  /// Checks that the paths lead over relationships.
  final func checkPrefetching<Result: ManagedObject>(_ request: FetchRequest<Result>) throws {
    let (binding, model) = try entity(of: request)
    for path in request.relationshipKeyPathsForPrefetching {
      var owner = binding.entity
      for name in FetchExpression.names(in: path) {
        guard let relationship = owner.relationship(named: name),
          let next = model.entity(named: relationship.destination)
        else {
          let near = NearMisses.of(name, among: owner.relationships.map(\.name))
          var error = PersistenceError(
            .undefinedKey,
            "\(path) cannot be prefetched: \(owner.name) has no relationship \(name)"
              + (near.isEmpty ? "" : "; is \(near.joined(separator: " or ")) meant?"))
          (error.entityName, error.key) = (owner.name, name)
          throw error
        }
        owner = next.entity
      }
    }
  }
}
