extension ModelDifference: CustomStringConvertible {
  /// A readable report with one line for each change; entities that were kept are only counted.
  public var description: String {
    func count(_ kind: EntityChange.Kind) -> Int { entities.count { $0.kind == kind } }
    var lines = [
      "entities: \(count(.kept)) kept, \(count(.changed)) changed, \(count(.added)) added, "
        + "\(count(.removed)) removed"
    ]
    lines += entities.filter { $0.kind != .kept }.map(\.description)
    if !obstacles.isEmpty { lines.append("cannot be inferred:") }
    lines += obstacles.map { "    \($0)" }
    if !conditionalObstacles.isEmpty { lines.append("cannot be inferred if there are objects:") }
    lines += conditionalObstacles.map { "    \($0)" }
    return lines.joined(separator: "\n")
  }
}

extension EntityChange: CustomStringConvertible {
  /// One line for the entity and one for each changed property.
  public var description: String {
    switch kind {
    case .kept: return "= \(name)"
    case .added: return "+ \(name)"
    case .removed: return "- \(name)"
    case .changed: break
    }
    var notes: [String] = []
    if parentChanged {
      let old = source?.parent?.name ?? "none"
      notes.append("its parent is \(destination?.parent?.name ?? "none") instead of \(old)")
    }
    if abstractChanged { notes.append(destination?.isAbstract == true ? "abstract" : "concrete") }
    if modifierChanged { notes.append("another version hash modifier") }
    var head = "~ \(name)"
    if isRenamed, let source { head += " (was \(source.name))" }
    if !notes.isEmpty { head += ": \(notes.joined(separator: ", "))" }
    let properties =
      attributes.filter { !$0.isKept }.map(\.description)
      + relationships.filter { !$0.isKept }.map(\.description)
    return ([head] + properties.map { "    \($0)" }).joined(separator: "\n")
  }
}

extension AttributeChange: CustomStringConvertible {
  public var description: String {
    if source == nil, let destination {
      var facts = ["\(destination.type)"]
      if !destination.isOptional { facts.append("required") }
      if destination.isTransient { facts.append("transient") }
      if let value = destination.defaultValue {
        facts.append("default \(PredicateValue.value(value))")
      }
      return "+ attribute \(name): \(facts.joined(separator: ", "))"
    }
    return line("attribute", name, source?.name, facets.map(\.description))
  }
}

extension RelationshipChange: CustomStringConvertible {
  public var description: String {
    if source == nil, let destination {
      let count =
        destination.isToMany ? destination.isOrdered ? "ordered to-many" : "to-many" : "to-one"
      return "+ relationship \(name): \(count) \(destination.destination)"
    }
    return line("relationship", name, source?.name, facets.map(\.description))
  }
}

/// The report line of a property that was kept, changed or removed. A facet with an empty text,
/// such as a renaming, is already visible in the line.
private func line(
  _ kind: String, _ name: String, _ oldName: String?, _ facets: [String]
) -> String {
  let facts = facets.filter { !$0.isEmpty }
  if facts == ["removed"] { return "- \(kind) \(name)" }
  let was = oldName == name ? "" : " (was \(oldName ?? ""))"
  let rest = facts.isEmpty ? "" : ": \(facts.joined(separator: ", "))"
  return "\(facets.isEmpty ? "=" : "~") \(kind) \(name)\(was)\(rest)"
}

extension AttributeChange.Facet: CustomStringConvertible {
  public var description: String {
    switch self {
    case .added: "added"
    case .removed: "removed"
    case .renamed: ""
    case .typeChanged(let from, let to): "\(to) instead of \(from)"
    case .elementsChanged: "other elements"
    case .becameOptional: "optional"
    case .becameRequired(let value?): "required, default \(PredicateValue.value(value))"
    case .becameRequired(nil): "required"
    case .transientChanged(let isTransient): isTransient ? "transient" : "stored"
    case .modifierChanged: "another version hash modifier"
    }
  }
}

extension RelationshipChange.Facet: CustomStringConvertible {
  public var description: String {
    switch self {
    case .added: "added"
    case .removed: "removed"
    case .renamed: ""
    case .toOneToToMany: "to-many"
    case .toManyToToOne: "to-one"
    case .orderedChanged(let isOrdered): isOrdered ? "ordered" : "unordered"
    case .destinationChanged(let from, let to):
      "refers to \(to) instead of \(from), its values are dropped"
    case .destinationNarrowed(let from, let to):
      "refers to \(to) instead of \(from), links to others are dropped"
    case .destinationWidened(let from, let to): "refers to \(to) instead of \(from)"
    case .inverseChanged(let from, let to):
      "its inverse is \(to ?? "none") instead of \(from ?? "none")"
    case .countsChanged: "other limits"
    case .becameOptional: "optional"
    case .becameRequired: "required"
    case .transientChanged(let isTransient): isTransient ? "transient" : "stored"
    case .modifierChanged: "another version hash modifier"
    }
  }
}
