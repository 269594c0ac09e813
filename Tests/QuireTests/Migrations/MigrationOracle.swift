import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a migration must make of a store, by the rules of `docs/migration.md` and decision 0012
/// alone, on dictionaries.
struct MigrationOracle {
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  let before: StoreContent
  /// What became of entities: new names to old ones.
  private let oldEntities: [String: String]

  init(_ old: ManagedObjectModel, _ new: ManagedObjectModel, _ before: StoreContent) {
    (self.old, self.new, self.before) = (old, new, before)
    oldEntities = MigrationOracle.match(
      old.entities.map(\.name),
      new.entities.map { ($0.name, $0.declaration.renamingIdentifier) })
  }

  /// "Things are matched by renaming identifier, then by name."
  fileprivate static func match(
    _ old: [String], _ new: [(name: String, identifier: String?)]
  ) -> [String: String] {
    var result: [String: String] = [:]
    var free = Set(old)
    for (name, identifier) in new {
      if let identifier, free.remove(identifier) != nil { result[name] = identifier }
    }
    for (name, _) in new where result[name] == nil {
      if free.remove(name) != nil { result[name] = name }
    }
    return result
  }

  /// The old entity, if both have objects of their own.
  private func source(of entity: EntityDescription) -> EntityDescription? {
    guard !entity.isAbstract, let source = oldEntities[entity.name].flatMap(old.entity(named:)),
      !source.isAbstract
    else { return nil }
    return source
  }

  private func attributeNames(
    _ source: EntityDescription, _ entity: EntityDescription
  ) -> [String: String] {
    // Entities with equal hashes are matched by name alone.
    let byName = source.name == entity.name && source.versionHash == entity.versionHash
    return MigrationOracle.match(
      source.attributes.map(\.name),
      entity.attributes.map { ($0.name, byName ? nil : $0.renamingIdentifier) })
  }

  /// The stored attribute that became this one.
  private func source(
    of attribute: AttributeDescription, _ source: EntityDescription, _ entity: EntityDescription
  ) -> AttributeDescription? {
    guard let name = attributeNames(source, entity)[attribute.name],
      let old = source.attribute(named: name), !old.isTransient
    else { return nil }
    return old
  }

  /// The stored relationship that became this one.
  private func source(
    of relationship: RelationshipDescription, _ source: EntityDescription,
    _ entity: EntityDescription
  ) -> RelationshipDescription? {
    let byName = source.name == entity.name && source.versionHash == entity.versionHash
    let names = MigrationOracle.match(
      source.relationships.map(\.name),
      entity.relationships.map { ($0.name, byName ? nil : $0.renamingIdentifier) })
    guard let name = names[relationship.name], let old = source.relationship(named: name),
      !old.isTransient
    else { return nil }
    return old
  }

  // MARK: Refusals

  struct Refusals {
    /// What is refused even without objects.
    var certain: Set<String> = []
    /// What is refused because there are objects.
    var conditional: Set<String> = []
    /// What is refused because of a number: attribute and object.
    var numbers: Set<String> = []
    var isEmpty: Bool { certain.isEmpty && conditional.isEmpty && numbers.isEmpty }
  }

  func refusals() -> Refusals {
    var refusals = Refusals()
    for entity in new.entities {
      guard let name = oldEntities[entity.name], let source = old.entity(named: name),
        !source.isAbstract
      else { continue }
      let hasObjects = !before.keys(of: name).isEmpty
      if entity.isAbstract {
        if hasObjects { refusals.conditional.insert(entity.name) }
        continue
      }
      for attribute in entity.attributes where !attribute.isTransient {
        let old = self.source(of: attribute, source, entity)
        if let old {
          refusals.certain.formUnion(
            typeChanges(old, attribute).map { "\(entity.name).\($0)" })
          for name in before.keys(of: source.name) {
            guard let value = before.objects[name]?.values[old.name] else { continue }
            refusals.numbers.formUnion(
              OracleNumber.refused(value, old, attribute, MigrationOracle.match).map {
                "\(entity.name).\($0) of \(entity.name)/p\(name.key)"
              })
          }
        }
        let isLacking = before.keys(of: name).contains { key in
          guard let old else { return true }
          return old.isOptional && before.objects[key]?.values[old.name] == nil
        }
        if !attribute.isOptional, attribute.defaultValue == nil, isLacking {
          refusals.conditional.insert("\(entity.name).\(attribute.name)")
        }
      }
      for relationship in entity.relationships
      where !relationship.isToMany && !relationship.isTransient {
        guard let old = self.source(of: relationship, source, entity), old.isToMany,
          mayKeepLinks(old, relationship)
        else { continue }
        refusals.certain.insert("\(entity.name).\(relationship.name)")
      }
    }
    return refusals
  }

  private func typeChanges(
    _ old: AttributeDescription, _ new: AttributeDescription
  ) -> [String] {
    if old.type != new.type {
      return OracleNumber.isNumber(old.type) && OracleNumber.isNumber(new.type) ? [] : [new.name]
    }
    let names = MigrationOracle.match(
      old.elements.map(\.name), new.elements.map { ($0.name, $0.renamingIdentifier) })
    return new.elements.flatMap { element -> [String] in
      guard let before = old.elements.first(where: { $0.name == names[element.name] }) else {
        return []
      }
      return typeChanges(before, element).map { "\(new.name).\($0)" }
    }
  }

  /// Whether some object that the old relationship led to may be one that the new one leads to.
  private func mayKeepLinks(
    _ old: RelationshipDescription, _ new: RelationshipDescription
  ) -> Bool {
    if oldEntities[new.destination] == old.destination { return true }
    let family = family(new.destination, self.new)
    let oldFamily = Set(self.family(old.destination, self.old).map(\.name))
    return family.contains { source(of: $0).map { oldFamily.contains($0.name) } ?? false }
  }

  /// The concrete entities of a family.
  private func family(_ name: String, _ model: ManagedObjectModel) -> [EntityDescription] {
    model.entity(named: name).map { model.family(of: $0).filter { !$0.isAbstract } } ?? []
  }

  // MARK: What is expected

  func expected() -> StoreContent { outcome().content }

  /// What a store has afterwards, and how many links it has not, though both their objects stay.
  func outcome() -> (content: StoreContent, droppedLinkCount: Int) {
    var content = StoreContent()
    var droppedLinkCount = 0
    for entity in new.entities {
      guard let source = source(of: entity) else { continue }
      for name in before.keys(of: source.name) {
        guard let old = before.objects[name] else { continue }
        var node = StoreContent.Node()
        node.version = old.version
        for attribute in entity.attributes where !attribute.isTransient {
          node.values[attribute.name] = value(of: attribute, old, source, entity)
        }
        for relationship in entity.relationships where !relationship.isTransient {
          node.links[relationship.name] = []
        }
        content.objects[ObjectName(entity.name, name.key)] = node
      }
    }
    for entity in new.entities {
      for relationship in entity.declaration.relationships where !relationship.isTransient {
        droppedLinkCount += link(Side(entity.name, relationship), in: &content)
      }
    }
    return (content, droppedLinkCount)
  }

  private func value(
    of attribute: AttributeDescription, _ node: StoreContent.Node, _ source: EntityDescription,
    _ entity: EntityDescription
  ) -> AttributeValue? {
    guard let old = self.source(of: attribute, source, entity) else {
      return attribute.defaultValue
    }
    guard let value = node.values[old.name] else {
      return attribute.isOptional ? nil : attribute.defaultValue
    }
    return converted(value, old, attribute)
  }

  /// A number is the same number in its new type; a composite keeps the elements that are still
  /// there, under their new names.
  private func converted(
    _ value: AttributeValue, _ old: AttributeDescription, _ new: AttributeDescription
  ) -> AttributeValue {
    guard case .composite(let values) = value else {
      return old.type == new.type ? value : OracleNumber.converted(value, new.type) ?? value
    }
    let names = MigrationOracle.match(
      old.elements.map(\.name), new.elements.map { ($0.name, $0.renamingIdentifier) })
    var result: [String: AttributeValue] = [:]
    for element in new.elements {
      guard let name = names[element.name],
        let before = old.elements.first(where: { $0.name == name })
      else {
        result[element.name] = element.defaultValue
        continue
      }
      result[element.name] = values[name].map { converted($0, before, element) }
    }
    return .composite(result)
  }

  // MARK: Links

  /// A relationship at the entity that declares it.
  private struct Side: Equatable {
    var entity: String
    var relationship: RelationshipDescription

    init(_ entity: String, _ relationship: RelationshipDescription) {
      (self.entity, self.relationship) = (entity, relationship)
    }

    var isFirst: (String, String) { (entity, relationship.name) }
  }

  private struct Link: Hashable {
    var near: ObjectName
    var far: ObjectName
    var flipped: Link { Link(near: far, far: near) }
  }

  private func inverse(of side: Side) -> Side? {
    guard let (entity, relationship) = new.inverse(of: side.relationship), !relationship.isTransient
    else { return nil }
    var declaring = entity
    while let parent = declaring.parent, parent.relationship(named: relationship.name) != nil {
      declaring = parent
    }
    return Side(declaring.name, relationship)
  }

  private func renamed(_ name: ObjectName) -> ObjectName? {
    guard
      let entity = new.entities.first(where: { oldEntities[$0.name] == name.entity }),
      !entity.isAbstract
    else { return nil }
    return ObjectName(entity.name, name.key)
  }

  /// How a side was in the old model, for each of its concrete entities that had it.
  private func olds(_ side: Side) -> [(
    entity: EntityDescription, source: EntityDescription, old: RelationshipDescription
  )] {
    family(side.entity, new).sorted { $0.name < $1.name }.compactMap { entity in
      guard let source = source(of: entity),
        let relationship = entity.relationship(named: side.relationship.name),
        let old = self.source(of: relationship, source, entity)
      else { return nil }
      return (entity, source, old)
    }
  }

  /// The links that a side had and may still have, in its order.
  private func knownLinks(of side: Side, _ far: Side?) -> [Link] {
    let allowed = Set(family(side.relationship.destination, new).map(\.name))
    let farOwners = far.map { Set(family($0.entity, new).map(\.name)) } ?? allowed
    // The inverse lists the owner, and may lead to fewer entities.
    let owners = far.map { Set(family($0.relationship.destination, new).map(\.name)) }
    return olds(side).flatMap { entity, source, old in
      before.keys(of: source.name).flatMap { name in
        (before.objects[name]?.links[old.name] ?? []).compactMap { member in
          guard let far = renamed(member), allowed.contains(far.entity),
            farOwners.contains(far.entity), owners?.contains(entity.name) ?? true
          else { return nil }
          return Link(near: ObjectName(entity.name, name.key), far: far)
        }
      }
    }
  }

  /// All links that a side had between objects that stay.
  private func formerLinks(of side: Side) -> [Link] {
    olds(side).flatMap { entity, source, old in
      before.keys(of: source.name).flatMap { name in
        (before.objects[name]?.links[old.name] ?? []).compactMap { member in
          renamed(member).map { Link(near: ObjectName(entity.name, name.key), far: $0) }
        }
      }
    }
  }

  /// - Returns: how many links go. A link is one fact, whichever sides know it.
  private func link(_ near: Side, in content: inout StoreContent) -> Int {
    let far = inverse(of: near)
    if let far, far.isFirst < near.isFirst { return 0 }
    let (oldNear, oldFar) = (olds(near), far.map(olds) ?? [])
    let nearLinks = knownLinks(of: near, far)
    let farAllowed = Set(family(near.entity, new).map(\.name))
    let farLinks = (far.map { knownLinks(of: $0, near) } ?? [])
      .filter { farAllowed.contains($0.far.entity) }.map(\.flipped)
    let wereInverse = oldNear.allSatisfy { left in
      oldFar.allSatisfy { $0.old.inverse == left.old.name && left.old.inverse == $0.old.name }
    }
    // Of two that contradict each other, the one that has an order knows better, then the one that
    // leads to one object.
    func weight(_ relationships: [RelationshipDescription]) -> Int {
      relationships.contains(where: \.isOrdered)
        ? 2 : relationships.contains { !$0.isToMany } ? 1 : 0
    }
    let usesFar =
      oldNear.isEmpty
      || (!oldFar.isEmpty && !wereInverse
        && weight(oldFar.map(\.old)) > weight(oldNear.map(\.old)))
    var links = usesFar ? farLinks : nearLinks
    if far == near {
      links = paired(links, isSingle: !near.relationship.isToMany)
    } else {
      links = first(links, near, far)
    }
    write(links, near, nearLinks, isOrderKnown: !usesFar || wereInverse, in: &content)
    if let far, far != near {
      write(
        links.map(\.flipped), far, farLinks.map(\.flipped), isOrderKnown: usesFar || wereInverse,
        in: &content)
    }
    var former = Set(formerLinks(of: near))
    if far == near {
      for link in former where former.contains(link.flipped) && link.near != link.far {
        former.remove(link)
      }
    } else if let far {
      former.formUnion(formerLinks(of: far).map(\.flipped))
    }
    return former.subtracting(links).count
  }

  /// An end that leads to one object leads to the first.
  private func first(_ links: [Link], _ near: Side, _ far: Side?) -> [Link] {
    var (seenNear, seenFar): (Set<ObjectName>, Set<ObjectName>) = ([], [])
    return links.filter { link in
      if !near.relationship.isToMany, seenNear.contains(link.near) { return false }
      if let far, !far.relationship.isToMany, seenFar.contains(link.far) { return false }
      seenNear.insert(link.near)
      seenFar.insert(link.far)
      return true
    }
  }

  /// Both directions of the links of a relationship that is its own inverse.
  private func paired(_ links: [Link], isSingle: Bool) -> [Link] {
    var result: [Link] = []
    var seen: Set<Link> = []
    var taken: Set<ObjectName> = []
    for link in links where !seen.contains(link) {
      if isSingle, taken.contains(link.near) || taken.contains(link.far) { continue }
      taken.formUnion([link.near, link.far])
      for direction in [link, link.flipped] where seen.insert(direction).inserted {
        result.append(direction)
      }
    }
    return result
  }

  private func write(
    _ links: [Link], _ side: Side, _ known: [Link], isOrderKnown: Bool,
    in content: inout StoreContent
  ) {
    let name = side.relationship.name
    let ordered = Set(olds(side).filter(\.old.isOrdered).map(\.entity.name))
    let present = Set(links)
    for entity in family(side.entity, new) {
      let hasOrder =
        side.relationship.isOrdered && isOrderKnown && ordered.contains(entity.name)
      var listed: [Link] = hasOrder ? known.filter(present.contains) : links
      if hasOrder { listed += links.filter { !known.contains($0) } }
      var lists: [ObjectName: [ObjectName]] = [:]
      for link in listed where link.near.entity == entity.name {
        lists[link.near, default: []].append(link.far)
      }
      for (owner, members) in lists {
        content.objects[owner]?.links[name] = members
        if hasOrder { content.objects[owner]?.exact.insert(name) }
      }
    }
  }
}

/// What becomes of numbers by the words of `docs/migration.md`: by their names, as text.
private enum OracleNumber {
  static func isNumber(_ type: AttributeType) -> Bool {
    [.integer16, .integer32, .integer64, .decimal, .double, .float, .boolean].contains(type)
  }

  /// The paths of the numbers that the new type does not have.
  static func refused(
    _ value: AttributeValue, _ old: AttributeDescription, _ new: AttributeDescription,
    _ match: ([String], [(name: String, identifier: String?)]) -> [String: String]
  ) -> [String] {
    guard case .composite(let values) = value else {
      return old.type == new.type || converted(value, new.type) != nil ? [] : [new.name]
    }
    let names = match(
      old.elements.map(\.name), new.elements.map { ($0.name, $0.renamingIdentifier) })
    return new.elements.flatMap { element -> [String] in
      guard let name = names[element.name], let value = values[name],
        let before = old.elements.first(where: { $0.name == name })
      else { return [] }
      return refused(value, before, element, match).map { "\(new.name).\($0)" }
    }
  }

  static func converted(_ value: AttributeValue, _ type: AttributeType) -> AttributeValue? {
    switch type {
    case .boolean:
      guard let whole = whole(value), whole == 0 || whole == 1 else { return nil }
      return .boolean(whole == 1)
    case .double: return double(value).map { .double($0) }
    case .float: return float(value).map { .float($0) }
    case .decimal: return decimal(value).map { .decimal($0) }
    default:
      guard let whole = whole(value), type.integerRange?.contains(whole) == true else { return nil }
      return .integer(whole)
    }
  }

  private static func whole(_ value: AttributeValue) -> Int64? {
    switch value {
    case .integer(let number): number
    case .boolean(let flag): flag ? 1 : 0
    case .double(let number): Int64(exactly: number)
    case .float(let number): Int64(exactly: number)
    // Without a fraction, a decimal is written as an integer is.
    case .decimal(let number): Int64("\(number)")
    default: nil
    }
  }

  private static func double(_ value: AttributeValue) -> Double? {
    switch value {
    case .float(let number): return Double(number)
    case .decimal(let number):
      if number.isNaN { return .nan }
      if let whole = whole(value) { return Double(exactly: whole) }
      guard let double = Double("\(number)"), Decimal(string: "\(double)") == number else {
        return nil
      }
      return double
    default: return whole(value).flatMap { Double(exactly: $0) }
    }
  }

  private static func float(_ value: AttributeValue) -> Float? {
    switch value {
    case .double(let number): return number.isNaN ? .nan : Float(exactly: number)
    case .decimal(let number):
      if number.isNaN { return .nan }
      if let whole = whole(value) { return Float(exactly: whole) }
      guard let float = Float("\(number)"), float.isFinite,
        Decimal(string: "\(float)") == number
      else { return nil }
      return float
    default: return whole(value).flatMap { Float(exactly: $0) }
    }
  }

  private static func decimal(_ value: AttributeValue) -> Decimal? {
    if let whole = whole(value) { return Decimal(whole) }
    switch value {
    case .double(let number):
      return number.isNaN ? .nan : abs(number) < 1e127 ? Decimal(string: "\(number)") : nil
    case .float(let number):
      return number.isNaN ? .nan : number.isFinite ? Decimal(string: "\(number)") : nil
    default: return nil
    }
  }
}
