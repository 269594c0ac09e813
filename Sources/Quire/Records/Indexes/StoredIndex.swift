import QuireModel

/// An index as a store records it: its number, and the elements of its keys.
///
/// An index belongs to the entity that declares it, and has the rows of all its concrete
/// subentities too, in one tree. Its number is never reused while the store has indexes.
final class StoredIndex: Sendable {
  /// On disk: add cases, never renumber.
  enum Kind: UInt8, Sendable { case fetch = 1, unique = 2 }

  struct Element: Hashable, Sendable {
    /// The name of a property; for a value in a composite attribute, names of elements after it.
    var path: [String]
    /// The format of the value in keys.
    var kind: FieldKind
    var isAscending: Bool
  }

  let number: UInt16
  let kind: Kind
  /// The entity that declares it, which may be abstract.
  let entityName: String
  /// The index's name; of a constraint, the names of its properties.
  let name: String
  let elements: [Element]
  /// The format string of a partial index's predicate: the tree has only rows that match.
  let predicate: String?
  /// The numbers of the concrete entities whose rows it has, in order.
  let entities: [UInt16]

  init(
    number: UInt16 = 0, kind: Kind, entityName: String, name: String, elements: [Element],
    predicate: String? = nil, entities: [UInt16]
  ) {
    self.number = number
    self.kind = kind
    self.entityName = entityName
    self.name = name
    self.elements = elements
    self.predicate = predicate
    self.entities = entities
  }

  /// The name of the tree of the keys, which is created with the first key.
  var tree: String { "indexes/\(number)" }

  /// The index's name in messages.
  var title: String { "\(entityName).\(name)" }

  /// The same index under another number.
  func numbered(_ number: UInt16) -> StoredIndex {
    StoredIndex(
      number: number, kind: kind, entityName: entityName, name: name, elements: elements,
      predicate: predicate, entities: entities)
  }

  /// Whether both indexes have the same keys for the same rows, apart from their numbers.
  func isSame(as other: StoredIndex) -> Bool {
    kind == other.kind && entityName == other.entityName && name == other.name
      && elements == other.elements && predicate == other.predicate && entities == other.entities
  }
}

extension StoredIndex: Hashable {
  static func == (left: StoredIndex, right: StoredIndex) -> Bool {
    left === right || left.number == right.number && left.isSame(as: right)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    hasher.combine(name)
  }
}

// MARK: - Of a model

extension StoredIndex {
  /// The indexes that a store with these entities keeps for a model, without numbers.
  ///
  /// Indexes without possible keys are left out: those with an expression or spatial elements,
  /// those of data, of transformable or of whole composite attributes, and partial ones whose
  /// predicate needs more than attributes of the object itself. Fetches do without them. A
  /// constraint over values without keys is not enforced.
  static func wanted(
    by model: ManagedObjectModel, numbers: [String: Int]
  ) -> [StoredIndex] {
    var wanted: [StoredIndex] = []
    for entity in model.entities
    where !entity.declaration.indexes.isEmpty || !entity.declaration.uniquenessConstraints.isEmpty {
      let covered = model.family(of: entity).compactMap { numbers[$0.name].map(UInt16.init) }
        .sorted()
      guard !covered.isEmpty else { continue }
      for index in entity.declaration.indexes {
        guard let elements = elements(of: index, entity) else { continue }
        if let format = index.partialIndexPredicate, partialPredicate(format, entity) == nil {
          continue
        }
        wanted.append(
          StoredIndex(
            kind: .fetch, entityName: entity.name, name: index.name, elements: elements,
            predicate: index.partialIndexPredicate, entities: covered))
      }
      for paths in entity.declaration.uniquenessConstraints {
        let elements = paths.compactMap { Element($0, of: entity, isAscending: true) }
        guard elements.count == paths.count, !elements.isEmpty else { continue }
        wanted.append(
          StoredIndex(
            kind: .unique, entityName: entity.name, name: paths.joined(separator: ","),
            elements: elements, entities: covered))
      }
    }
    return wanted
  }

  private static func elements(
    of index: FetchIndexDescription, _ entity: EntityDescription
  ) -> [Element]? {
    var elements: [Element] = []
    for element in index.elements {
      guard element.kind == .binary, let name = element.property else { return nil }
      guard let keyed = Element(name, of: entity, isAscending: element.isAscending) else {
        return nil
      }
      elements.append(keyed)
    }
    return elements.isEmpty ? nil : elements
  }

  /// The predicate of a partial index; `nil` if it cannot be evaluated on a row alone.
  static func partialPredicate(_ format: String, _ entity: EntityDescription) -> FetchPredicate? {
    guard let predicate = try? FetchPredicate(format: format),
      let evaluator = try? PredicateEvaluator(predicate), !predicate.asksForMoreThanValues
    else { return nil }
    for path in evaluator.paths {
      guard let first = path.first, let attribute = entity.attribute(named: first),
        !attribute.isTransient, attribute.type != .binaryData, attribute.type != .transformable
      else { return nil }
    }
    return predicate
  }
}

extension StoredIndex.Element {
  /// - Returns: `nil` if keys cannot be made of the property's values.
  init?(_ path: String, of entity: EntityDescription, isAscending: Bool) {
    let names = FetchExpression.names(in: path)
    guard let first = names.first else { return nil }
    if let relationship = entity.relationship(named: first) {
      guard names.count == 1, !relationship.isToMany, !relationship.isTransient else { return nil }
      self.init(path: names, kind: .reference, isAscending: isAscending)
      return
    }
    guard var attribute = entity.attribute(named: first), !attribute.isTransient else { return nil }
    for name in names.dropFirst() {
      guard let element = attribute.elements.first(where: { $0.name == name }) else { return nil }
      attribute = element
    }
    guard let kind = FieldKind(attribute.type), kind.hasKeys else { return nil }
    self.init(path: names, kind: kind, isAscending: isAscending)
  }
}

extension FieldKind {
  /// Whether keys can be made of values of this kind.
  var hasKeys: Bool {
    switch self {
    case .boolean, .integer16, .integer32, .integer64, .double, .float, .date, .uuid, .reference,
      .string, .decimal, .uri, .objectID:
      true
    // Values of these kinds may be outside of the row.
    case .binary, .transformed, .composite: false
    }
  }
}

extension FetchPredicate {
  /// Whether the predicate needs more than attribute values: the object itself, the time, or a
  /// random number.
  fileprivate var asksForMoreThanValues: Bool {
    switch self {
    case .constant: false
    case .comparison(let comparison):
      comparison.left.asksForMoreThanValues || comparison.right.asksForMoreThanValues
    case .and(let parts), .or(let parts): parts.contains(where: \.asksForMoreThanValues)
    case .not(let part): part.asksForMoreThanValues
    }
  }
}

extension FetchExpression {
  fileprivate var asksForMoreThanValues: Bool {
    switch self {
    case .constant(.object?), .evaluatedObject, .path, .call, .subquery, .fetch,
      .function(.now, _), .function(.random, _), .function(.randomBelow, _):
      true
    case .constant, .keyPath, .variable: false
    case .aggregate(let parts), .function(_, let parts):
      parts.contains(where: \.asksForMoreThanValues)
    case .conditional(let predicate, let first, let second):
      predicate.asksForMoreThanValues || first.asksForMoreThanValues
        || second.asksForMoreThanValues
    }
  }
}

// MARK: - In the store

extension StoredIndex {
  func write(to writer: inout ByteWriter) {
    writer.append(number)
    writer.append(kind.rawValue)
    writer.append(entityName)
    writer.append(name)
    writer.append(UInt32(elements.count))
    for element in elements {
      writer.append(UInt32(element.path.count))
      for name in element.path { writer.append(name) }
      writer.append(element.kind.rawValue)
      writer.append(element.isAscending)
    }
    writer.append(predicate)
    writer.append(UInt32(entities.count))
    for entity in entities { writer.append(entity) }
  }

  convenience init(from reader: inout ByteReader) throws(ByteReaderError) {
    let number = try reader.read(UInt16.self)
    guard let kind = Kind(rawValue: try reader.read()) else {
      throw reader.failure("a kind of index")
    }
    let entityName = try reader.readString()
    let name = try reader.readString()
    var elements: [Element] = []
    for _ in 0..<(try reader.readCount(minimumWidth: 6)) {
      var path: [String] = []
      for _ in 0..<(try reader.readCount(minimumWidth: 4)) { path.append(try reader.readString()) }
      guard !path.isEmpty, let kind = FieldKind(rawValue: try reader.read()), kind.hasKeys else {
        throw reader.failure("an element of an index")
      }
      elements.append(Element(path: path, kind: kind, isAscending: try reader.readBool()))
    }
    let predicate = try reader.readOptionalString()
    var entities: [UInt16] = []
    for _ in 0..<(try reader.readCount(minimumWidth: 2)) {
      let number = try reader.read(UInt16.self)
      // Two equal numbers would enter the entity's rows twice.
      if let last = entities.last, number <= last { throw reader.failure("rising numbers") }
      entities.append(number)
    }
    guard !elements.isEmpty, !entities.isEmpty else {
      throw reader.failure("an index with elements and entities")
    }
    self.init(
      number: number, kind: kind, entityName: entityName, name: name, elements: elements,
      predicate: predicate, entities: entities)
  }
}
