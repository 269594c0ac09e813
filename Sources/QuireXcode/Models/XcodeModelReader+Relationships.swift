import QuireModel

extension XcodeModelReader {
  mutating func relationship(
    _ element: XcodeElement
  ) throws(XcodeModelError) -> RelationshipDescription {
    var fields = XcodeFields(element)
    let name = try required("name", &fields)
    var relationship = RelationshipDescription(
      name, toOne: try required("destinationEntity", &fields),
      inverse: fields.nonEmptyText("inverseName"), optional: fields.flag("optional"))
    let isToMany = fields.flag("toMany")
    relationship.minCount = max(0, fields.integer("minCount") ?? 0)
    relationship.maxCount = maximumCount(isToMany: isToMany, &fields)
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      fields.note("at least \(relationship.minCount) of at most \(relationship.maxCount): ignored")
      relationship.minCount = 0
    }
    relationship.isOrdered = fields.flag("ordered")
    if relationship.isOrdered, !relationship.isToMany {
      fields.note("it is ordered and to-one; the order is ignored")
      relationship.isOrdered = false
    }
    relationship.deleteRule = deleteRule(&fields)
    relationship.isTransient = fields.flag("transient")
    relationship.renamingIdentifier = fields.nonEmptyText("elementID")
    relationship.versionHashModifier = fields.nonEmptyText("versionHashModifier")
    relationship.isIndexedBySpotlight = fields.flag("spotlightIndexingEnabled")
    fields.skip("inverseEntity", "syncable", "storedInTruthFile", "indexed")
    finish(&fields)
    for child in element.children {
      if child.name == "userInfo" {
        relationship.userInfo = userInfo(child)
      } else {
        noteUnknown(child)
      }
    }
    return relationship
  }

  /// A to-many relationship without a maximum is unlimited; a to-one is one with the maximum 1.
  private func maximumCount(isToMany: Bool, _ fields: inout XcodeFields) -> Int {
    let maximum = fields.integer("maxCount")
    guard isToMany else {
      if let maximum, maximum != 1 { fields.note("to-one with maxCount \(maximum): taken as 1") }
      return 1
    }
    if maximum == 1 { fields.note("toMany with maxCount 1, which is a to-one relationship") }
    return max(0, maximum ?? 0)
  }

  private func deleteRule(_ fields: inout XcodeFields) -> DeleteRule {
    guard let text = fields.nonEmptyText("deletionRule") else { return .nullify }
    if let rule = Self.deleteRules[text] { return rule }
    let known = Self.deleteRules.first { $0.key.lowercased() == text.lowercased() }
    if let (name, rule) = known {
      fields.note("the delete rule “\(text)” is taken as \(name)")
      return rule
    }
    let names = Self.deleteRules.keys.sorted().joined(separator: ", ")
    fields.fail("the delete rule “\(text)” is unknown; there are \(names)")
    return .nullify
  }

  private static let deleteRules: [String: DeleteRule] = [
    "Nullify": .nullify, "Cascade": .cascade, "Deny": .deny, "No Action": .noAction,
  ]
}

/// Corrects relationships whose inverse does not refer back, as some real models have.
///
/// A ``ManagedObjectModel`` requires inverses in pairs, since a store that keeps both sides cannot
/// keep a triangle. Xcode warns about one and saves it. A relationship outside a pair keeps its
/// values and loses its inverse, and is noted.
struct XcodeInverses {
  private var parents: [String: String] = [:]
  private var relationships: [String: [String: RelationshipDescription]] = [:]
  private let lines: [String: Int]

  init(entities: [Entity], lines: [String: Int]) {
    self.lines = lines
    for entity in entities {
      parents[entity.name] = entity.parent
      for relationship in entity.relationships {
        relationships[entity.name, default: [:]][relationship.name] = relationship
      }
    }
  }

  func settle(_ entities: inout [Entity], _ notes: inout [XcodeModelNote]) {
    var completed: [String: [String: String]] = [:]
    for entityIndex in entities.indices {
      let entity = entities[entityIndex]
      for index in entity.relationships.indices {
        let relationship = entity.relationships[index]
        guard let inverseName = relationship.inverse else { continue }
        let line = lines[entity.name] ?? 0
        let name = "\(entity.name).\(relationship.name)"
        guard let (owner, inverse) = find(inverseName, from: relationship.destination) else {
          notes.append(
            .init(
              line: line,
              "\(name) has the inverse \(inverseName), which \(relationship.destination) has not: "
                + "kept without an inverse"))
          entities[entityIndex].relationships[index].inverse = nil
          continue
        }
        let back = inverse.inverse ?? completed[owner]?[inverseName]
        if back == relationship.name, areRelated(entity.name, inverse.destination) { continue }
        if back == nil, areRelated(entity.name, inverse.destination) {
          completed[owner, default: [:]][inverseName] = relationship.name
          continue
        }
        notes.append(
          .init(
            line: line,
            "\(name) has the inverse \(owner).\(inverseName), whose inverse is "
              + "\(inverse.destination).\(back ?? "none"): kept without an inverse"))
        entities[entityIndex].relationships[index].inverse = nil
      }
    }
    complete(completed, in: &entities, &notes)
  }

  /// Sets the inverse of relationships that are named as an inverse and have none themselves.
  private func complete(
    _ completed: [String: [String: String]], in entities: inout [Entity],
    _ notes: inout [XcodeModelNote]
  ) {
    for entityIndex in entities.indices {
      let entity = entities[entityIndex]
      for index in entity.relationships.indices {
        let name = entity.relationships[index].name
        guard let inverse = completed[entity.name]?[name] else { continue }
        entities[entityIndex].relationships[index].inverse = inverse
        notes.append(
          .init(
            line: lines[entity.name] ?? 0,
            "\(entity.name).\(name) is the inverse of \(inverse) and names none: completed"))
      }
    }
  }

  private func find(
    _ name: String, from entity: String
  ) -> (entity: String, relationship: RelationshipDescription)? {
    for ancestor in lineage(of: entity) {
      if let relationship = relationships[ancestor]?[name] { return (ancestor, relationship) }
    }
    return nil
  }

  private func areRelated(_ left: String, _ right: String) -> Bool {
    lineage(of: left).contains(right) || lineage(of: right).contains(left)
  }

  /// The entity and its ancestors, as many as a model may have; more are an error later on, as is
  /// an entity that is its own ancestor.
  private func lineage(of entity: String) -> [String] {
    var result = [entity]
    while let parent = parents[result[result.count - 1]],
      result.count <= ManagedObjectModel.maximumAncestorCount
    {
      result.append(parent)
    }
    return result
  }
}
