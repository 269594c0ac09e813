import QuireModel

/// What is replaced by an object when more than values is wanted.
protocol ObjectStandIn: AnyObject, EntityMember {
  func object() throws -> any EntityMember
}

/// What is an object of an entity, or represents one.
protocol EntityMember {
  var entity: EntityDescription { get }
}

/// A class of objects of one entity.
protocol EntityClass {
  static var modelEntityName: String { get }
}

extension KeyValue {
  /// The value with objects in place of what represents them.
  var withObjects: KeyValue {
    get throws {
      switch self {
      case .array(let members): return .array(try members.map { try $0.withObjects })
      case .set(let members): return .set(try members.map { try $0.withObjects })
      case .one(let value as any ObjectStandIn): return .one(try value.object())
      case .one(let value?) where value is any PlainCollection:
        // Collections of values stay as they are.
        let members = expanded.members ?? []
        guard members.contains(where: \.isStandIn) else { return self }
        return try expanded.withObjects
      case .one: return self
      }
    }
  }

  private var isStandIn: Bool {
    if case .one(let value) = self { value is any ObjectStandIn } else { false }
  }
}
