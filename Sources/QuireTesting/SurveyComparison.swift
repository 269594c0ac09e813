import Quire

/// Compares a store after its migration with the store before, changed as the difference of the
/// models requires.
///
/// This is an oracle: it works on plain sets of values and knows nothing of rows, trees or link
/// tables.
package struct SurveyComparison {
  private typealias Name = StoreSurvey.Name

  private let before: StoreSurvey
  private let after: StoreSurvey
  private let model: ManagedObjectModel
  private let difference: ModelDifference
  private let expectations: MigrationExpectations
  /// Entities whose objects need not be what they were.
  private var changed: Set<String> = []
  package private(set) var failures: [String] = []
  package private(set) var comparedCount = 0

  package init(
    _ before: StoreSurvey, _ after: StoreSurvey, _ model: ManagedObjectModel,
    _ expectations: MigrationExpectations
  ) {
    self.before = before
    self.after = after
    self.model = model
    self.expectations = expectations
    difference = ModelDifference(from: before.model, to: model)
  }

  mutating func fail(_ text: String) { failures.append(text) }

  package mutating func compare() {
    failures += expectations.nonsense(for: model)
    changed = expectations.changedEntities
    for entity in model.entities where !entity.isAbstract {
      let change = difference.change(toDestination: entity.name)
      let inferred = change?.source.map { before.count(of: $0.name) } ?? 0
      let expected = expectations.counts.count(of: entity.name, inferred: inferred)
      if expected != inferred { changed.insert(entity.name) }
      // An entity whose objects a mapping makes needs no expected count.
      if expected == inferred, expectations.changedEntities.contains(entity.name) { continue }
      expect(after.count(of: entity.name), expected, "\(entity.name): objects")
    }
    for (old, content) in before.objects.sorted(by: { $0.key < $1.key }) {
      guard let name = renamed(old), !changed.contains(name.entity) else { continue }
      guard let migrated = after.objects[name] else {
        fail("\(old) is gone")
        continue
      }
      compareAttributes(of: name, was: content, is: migrated, change(of: name))
    }
    compareLinks()
  }

  private mutating func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) {
    comparedCount += 1
    if found != expected { fail("\(what): \(found) instead of \(expected)") }
  }

  /// Compares values, and fails with texts of the values only, without the names of types around
  /// them.
  private mutating func expect(
    _ found: AttributeValue?, _ expected: AttributeValue?, _ what: String
  ) {
    comparedCount += 1
    if found != expected { fail("\(what): \(found.text) instead of \(expected.text)") }
  }

  private func change(of name: Name) -> EntityChange? {
    difference.change(toDestination: name.entity)
  }

  /// The name of an object in the new model; `nil` when its entity was removed.
  private func renamed(_ old: Name) -> Name? {
    guard let entity = difference.change(ofSource: old.entity)?.destination, !entity.isAbstract
    else {
      return nil
    }
    return Name(entity: entity.name, key: old.key)
  }

  private mutating func compareAttributes(
    of name: Name, was: StoreSurvey.Content, is content: StoreSurvey.Content,
    _ change: EntityChange?
  ) {
    for attribute in change?.attributes ?? [] {
      guard let destination = attribute.destination, !destination.isTransient else { continue }
      if destination.derivationExpression != nil {
        compareDerived(destination, of: name, was: was, is: content, attribute.source)
        continue
      }
      var expected = attribute.source.flatMap { was.attributes[$0.name] }
      if let value = expected { expected = Self.converted(value, attribute) }
      let isNew = attribute.source == nil || attribute.source?.isTransient == true
      let becameRequired = attribute.source?.isOptional == true && !destination.isOptional
      if expected == nil, isNew || becameRequired {
        expected = destination.defaultValue
      }
      expect(content.attributes[destination.name], expected, "\(name).\(destination.name)")
    }
  }

  /// Expects the value that the attribute's expression gives of the migrated objects. Where that is
  /// another one each time, a new attribute may have any value, and another keeps its own.
  private mutating func compareDerived(
    _ attribute: AttributeDescription, of name: Name, was: StoreSurvey.Content,
    is content: StoreSurvey.Content, _ former: AttributeDescription?
  ) {
    let found = content.attributes[attribute.name]
    if let derived = content.derived[attribute.name] {
      // The terms of a sum come in any order.
      if let found, let derived, found.isNear(derived) {
        comparedCount += 1
      } else {
        expect(found, derived, "\(name).\(attribute.name)")
      }
    } else if let former, former.type == attribute.type,
      former.derivationExpression == attribute.derivationExpression
    {
      expect(found, was.attributes[former.name], "\(name).\(attribute.name)")
    }
  }

  /// A number is the same number in its new type.
  private static func converted(
    _ value: AttributeValue, _ change: AttributeChange
  ) -> AttributeValue? {
    change.numberConversion.map { $0.converted(value) } ?? value
  }

  // MARK: Links

  private struct Link: Hashable {
    var owner: Name
    var member: Name
  }

  private mutating func compareLinks() {
    for entity in model.entities where !entity.isAbstract {
      for relationship in entity.relationships where !relationship.isTransient {
        let expected = expectedLinks(entity, relationship).filter(isComparable)
        let found = links(in: after, entity.name, relationship.name).filter(isComparable)
        expect(
          found.count, expected.count, "\(entity.name).\(relationship.name): number of links")
        expect(
          Set(found) == Set(expected), true,
          "\(entity.name).\(relationship.name): links as they were")
      }
    }
  }

  private func isComparable(_ link: Link) -> Bool {
    !changed.contains(link.owner.entity) && !changed.contains(link.member.entity)
  }

  private func links(in survey: StoreSurvey, _ entity: String, _ relationship: String) -> [Link] {
    survey.objects.filter { $0.key.entity == entity }.flatMap { owner, content in
      (content.links[relationship] ?? []).map { Link(owner: owner, member: $0) }
    }
  }

  /// The links a relationship had, or its inverse where it is new, as far as they refer to objects
  /// that it may still refer to.
  private func expectedLinks(
    _ entity: EntityDescription, _ relationship: RelationshipDescription
  ) -> [Link] {
    let change = difference.change(toDestination: entity.name)
    if let source = change?.source,
      let old = change?.relationships.first(where: { $0.destination?.name == relationship.name })?
        .source
    {
      return surviving(links(in: before, source.name, old.name), relationship)
    }
    guard let inverse = model.inverse(of: relationship) else { return [] }
    var result: [Link] = []
    for owner in model.family(of: inverse.entity) where !owner.isAbstract {
      let change = difference.change(toDestination: owner.name)
      guard let source = change?.source,
        let old = change?.relationships.first(where: {
          $0.destination?.name == inverse.relationship.name
        })?.source
      else { continue }
      result += links(in: before, source.name, old.name).map {
        Link(owner: $0.member, member: $0.owner)
      }
    }
    return surviving(result, relationship).filter { $0.owner.entity == entity.name }
  }

  private func surviving(_ links: [Link], _ relationship: RelationshipDescription) -> [Link] {
    guard let destination = model.entity(named: relationship.destination) else { return [] }
    return links.compactMap { link in
      guard let owner = renamed(link.owner), let member = renamed(link.member),
        model.entity(named: member.entity)?.isKindOf(entity: destination) ?? false
      else { return nil }
      return Link(owner: owner, member: member)
    }
  }
}

extension AttributeValue {
  /// Whether both are numbers with a fraction that differ in their last digits alone.
  fileprivate func isNear(_ other: AttributeValue) -> Bool {
    switch (self, other) {
    case (.double(let left), .double(let right)):
      abs(left - right) <= 1e-9 * max(abs(left), abs(right))
    case (.float(let left), .float(let right)):
      abs(left - right) <= 1e-5 * max(abs(left), abs(right))
    default: false
    }
  }
}
