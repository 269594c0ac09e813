import QuireModel

/// A row or an object for key-value coding: its properties by name, and the objects they refer to.
///
/// It lets expressions be evaluated on rows as on objects. An object is made only when a function
/// is called on it.
final class StandIn<Subject: PathSubject>: KeyValueCoding {
  private let subject: Subject
  /// `nil` if no function is called.
  private let session: StoreSession?

  init(_ subject: Subject, _ session: StoreSession?) {
    self.subject = subject
    self.session = session
  }

  func value(forKey key: String) throws -> Any? {
    guard let slot = subject.binding.slot(named: key) else {
      if key == FetchExpression.objectIDName { return subject.objectIdentity.base }
      if key == FetchExpression.entityName { return subject.binding.entity }
      throw PersistenceError.undefinedKey(
        key, of: subject.objectIdentity.base, message: "has no property \(key)")
    }
    switch subject.binding.properties[slot] {
    case .attribute:
      guard let value = try subject.attribute(slot) else { return nil }
      return try subject.transformed(value, slot) ?? value.plainValue
    case .relationship(let relationship) where relationship.isToMany:
      let members = try subject.members(slot).map { StandIn($0, session) }
      return relationship.isOrdered ? members as Any : Set(members) as Any
    case .relationship: return try subject.one(slot).map { StandIn($0, session) }
    }
  }
}

extension StandIn: Hashable {
  static func == (left: StandIn, right: StandIn) -> Bool {
    left.subject.objectIdentity == right.subject.objectIdentity
  }

  func hash(into hasher: inout Hasher) { hasher.combine(subject.objectIdentity) }
}

extension StandIn: PredicateConvertible {
  var predicateValue: PredicateValue? { .object(subject.objectIdentity) }
}

extension StandIn: ObjectStandIn {
  var entity: EntityDescription { subject.binding.entity }

  func object() throws -> any EntityMember {
    guard let session else {
      throw PersistenceError(
        .invalidExpression,
        "\(subject.objectIdentity) cannot be asked for more than its values here")
    }
    return try subject.managedObject(in: session)
  }
}
