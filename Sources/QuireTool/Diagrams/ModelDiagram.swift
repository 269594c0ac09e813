import QuireModel

// A diagram of a model: what it shows, where that stands, and how it is written.
//
//   ModelDiagram     boxes for entities, with a row for each property; lines between rows
//   DiagramLayout    places boxes in columns and draws lines in the channels between them
//   DiagramDrawing   the laid-out diagram as SVG
//   MermaidDiagram   the model in the language of Mermaid, which lays it out itself

/// The content of a diagram of a model.
///
/// A property is shown by the entity that declares it. A relationship and its inverse share a line,
/// from the row of one to the row of the other.
struct ModelDiagram {
  struct Box {
    var name: String
    var parent: String?
    var isAbstract: Bool
    var attributes: [Row]
    var relationships: [Row]

    var rows: [Row] { attributes + relationships }

    /// The number of the row that a relationship has among all rows of the box.
    func row(ofRelationship name: String) -> Int? {
      relationships.firstIndex { $0.name == name }.map { attributes.count + $0 }
    }
  }

  /// A property in a box.
  struct Row {
    var name: String
    /// The type, or the destination with what holds of it.
    var detail: String
    /// Everything in words, for a tooltip.
    var explanation: String
    /// `nil` for an attribute.
    var deleteRule: DeleteRule?
  }

  struct End {
    var box: Int
    /// `nil` for the head of the box.
    var row: Int?
    var mark: Mark
    /// The mark in signs, such as “0..*”; empty for none.
    var cardinality = ""
  }

  /// What the end of a line at a box says: how many of its objects there are for one of the other
  /// side.
  enum Mark { case none, one, zeroOrOne, many, oneOrMany, parent }

  struct Line {
    var start: End
    var end: End
    var kind: Kind
    var explanation: String

    enum Kind { case relationship, cascade, inheritance }
  }

  let boxes: [Box]
  let lines: [Line]

  init(of model: ManagedObjectModel) {
    let boxes = model.entities.map { Box($0) }
    let numbers = Dictionary(uniqueKeysWithValues: boxes.enumerated().map { ($1.name, $0) })
    var lines: [Line] = []
    var drawn: Set<InverseChoice.Key> = []
    for (number, entity) in model.entities.enumerated() {
      if let parent = entity.parent, let box = numbers[parent.name] {
        lines.append(
          Line(
            start: End(box: number, row: nil, mark: .none),
            end: End(box: box, row: nil, mark: .parent), kind: .inheritance,
            explanation: "\(entity.name) is a \(parent.name)"))
      }
      for relationship in entity.declaration.relationships {
        let key = InverseChoice.Key(entity: entity.name, name: relationship.name)
        guard drawn.insert(key).inserted, let box = numbers[relationship.destination] else {
          continue
        }
        let start = End(
          box: number, row: boxes[number].row(ofRelationship: relationship.name), mark: .none)
        var line = Line(
          start: start,
          end: End(
            box: box, row: nil, mark: Mark(relationship), cardinality: relationship.cardinality),
          kind: relationship.deleteRule.deletesDestinations ? .cascade : .relationship,
          explanation: "\(entity.name).\(relationship.name): \(relationship.inWords)")
        if let inverse = model.inverse(of: relationship) {
          line.lead(back: inverse, boxes, numbers, &drawn)
        }
        lines.append(line)
      }
    }
    self.boxes = boxes
    self.lines = lines
  }
}

extension ModelDiagram.Line {
  /// Makes the line end at the row of the inverse.
  fileprivate mutating func lead(
    back inverse: (entity: EntityDescription, relationship: RelationshipDescription),
    _ boxes: [ModelDiagram.Box], _ numbers: [String: Int],
    _ drawn: inout Set<InverseChoice.Key>
  ) {
    let owner = InverseChoice.owner(of: inverse.relationship, inverse.entity)
    guard let box = numbers[owner] else { return }
    end.box = box
    end.row = boxes[box].row(ofRelationship: inverse.relationship.name)
    start.mark = ModelDiagram.Mark(inverse.relationship)
    start.cardinality = inverse.relationship.cardinality
    if inverse.relationship.deleteRule.deletesDestinations { kind = .cascade }
    let isNew = drawn.insert(
      InverseChoice.Key(entity: owner, name: inverse.relationship.name)
    ).inserted
    if isNew {
      explanation +=
        "\n\(owner).\(inverse.relationship.name): \(inverse.relationship.inWords)"
    }
  }
}

extension ModelDiagram.Box {
  init(_ entity: EntityDescription) {
    name = entity.name
    parent = entity.parent?.name
    isAbstract = entity.isAbstract
    attributes = entity.declaration.attributes.map {
      ModelDiagram.Row(
        name: $0.name, detail: $0.type.plainName + ($0.isOptional ? "?" : ""),
        explanation: "\(entity.name).\($0.name): \($0.inWords)")
    }
    relationships = entity.declaration.relationships.map {
      ModelDiagram.Row(
        name: $0.name, detail: "\($0.cardinality) \($0.destination), \($0.deleteRule)",
        explanation: "\(entity.name).\($0.name): \($0.inWords)", deleteRule: $0.deleteRule)
    }
  }
}

extension ModelDiagram.Mark {
  /// How many destinations a relationship may have, at its far end.
  init(_ relationship: RelationshipDescription) {
    let isRequired =
      relationship.isToMany
      ? relationship.minCount > 0 && !relationship.isOptional : !relationship.isOptional
    switch (relationship.isToMany, isRequired) {
    case (false, true): self = .one
    case (false, false): self = .zeroOrOne
    case (true, true): self = .oneOrMany
    case (true, false): self = .many
    }
  }
}

// MARK: - Words

extension RelationshipDescription {
  /// “0..1”, “1”, “0..*”, “2..5”.
  var cardinality: String {
    guard isToMany else { return isOptional ? "0..1" : "1" }
    return "\(isOptional ? 0 : minCount)..\(maxCount == 0 ? "*" : "\(maxCount)")"
  }

  /// The relationship in a few words.
  var inWords: String {
    var words = isToMany ? "to many \(destination) (\(cardinality))" : "to one \(destination)"
    if !isToMany { words += isOptional ? ", optional" : ", required" }
    if isOrdered { words += ", ordered" }
    if isTransient { words += ", transient" }
    words += ", delete rule \(deleteRule)"
    return words + (inverse.map { ", inverse \($0)" } ?? ", without an inverse")
  }
}

extension AttributeDescription {
  /// The attribute in a few words.
  var inWords: String {
    var words = type.plainName + (isOptional ? ", optional" : ", required")
    if isTransient { words += ", transient" }
    if let defaultValue {
      let text = JSONValue(defaultValue).lineText
      words += ", default \(text.count > 60 ? text.prefix(60) + "…" : text)"
    }
    if let derivationExpression { words += ", derived: \(derivationExpression)" }
    if allowsExternalBinaryDataStorage { words += ", large values outside of rows" }
    return words
  }
}

extension AttributeType {
  /// The name of the type without what it is made of.
  var plainName: String { String("\(self)".prefix { $0 != "(" }) }
}
