import QuireModel

/// What the class of an entity says: its properties, and what stands in `entityDeclaration`.
struct WrittenEntity {
  private let entity: EntityDescription
  private let generator: ClassGenerator
  /// Attributes before relationships, each in the order of the model.
  private(set) var properties: [SwiftProperty] = []
  /// What is said in the words of models.
  private var members: [SwiftStatement] = []
  /// The entity without what its properties say.
  private var rest: Entity
  /// Names that are no properties of the class, with the reasons.
  private var absent: [(name: String, reason: String)] = []

  init(_ entity: EntityDescription, _ generator: ClassGenerator) {
    self.entity = entity
    self.generator = generator
    rest = entity.declaration
    rest.managedObjectClassName = nil
    rest.coreSpotlightDisplayNameExpression = nil
    for attribute in rest.attributes { add(attribute) }
    for relationship in rest.relationships { add(relationship) }
  }

  private var code: ModelCode { generator.code }

  /// `nil` where the properties say everything.
  var entityDeclaration: SwiftStatement? {
    let statement = code.statement(rest, isInClass: true, members: members)
    return statement.arguments.count == 1 && statement.members.isEmpty ? nil : statement
  }

  /// The properties with their types alone.
  var plainLines: [String] {
    properties.flatMap { property in
      var plain = property
      (plain.arguments, plain.value) = ([], nil)
      return plain.lines(indent: 2)
    } + absent.flatMap { SwiftFormat.comment(Self.remark($0.name, $0.reason), indent: 2) }
  }

  // MARK: Attributes

  private mutating func add(_ attribute: AttributeDescription) {
    var attribute = attribute
    attribute.usesScalarValueType = false
    attribute.isIndexedBySpotlight = false
    attribute.allowsCloudEncryption = false
    attribute.isIndexed = false
    guard let property = property(attribute) else { return }
    guard PropertyCode.saysAll(of: attribute, code) else {
      properties.append(property)
      var statement = code.statement(attribute)
      if attribute.type == .transformable {
        statement.comments = ["The property has bytes; as a TransformableValue it has the value."]
      }
      members.append(statement)
      return
    }
    var complete = property
    complete.arguments = PropertyCode.arguments(
      of: attribute, options: takeOptions(of: attribute.name), code)
    complete.value = attribute.defaultValue.map {
      PropertyCode.value($0, isOptional: attribute.isOptional, code)
    }
    properties.append(complete)
  }

  /// The property with its type alone; `nil` where there can be none.
  private mutating func property(_ attribute: AttributeDescription) -> SwiftProperty? {
    let type = PropertyCode.type(of: attribute)
    if let reason = reasonAgainst(attribute.name)
      ?? (type == nil ? "an attribute of the type \(attribute.type) has none" : nil)
    {
      leaveOut(attribute.name, reason, code.statement(attribute))
      return nil
    }
    guard let type else { return nil }
    var property = property(
      attribute.name, code.type(type.name, of: type.module) + (type.isOptional ? "?" : ""))
    property.isOfFoundation = type.module == "Foundation"
    return property
  }

  private func property(_ name: String, _ type: String) -> SwiftProperty {
    SwiftProperty(
      attribute: "@" + code.type("Managed", of: "Quire"),
      declaration: "var \(SwiftNames.written(name)): \(type)")
  }

  /// Takes the constraint and the index that an option of `@Managed` says.
  private mutating func takeOptions(of name: String) -> [String] {
    var options: [String] = []
    if let index = rest.uniquenessConstraints.firstIndex(of: [name]) {
      rest.uniquenessConstraints.remove(at: index)
      options.append(".unique")
    }
    let wanted = FetchIndexDescription(
      "by\(name.prefix(1).uppercased())\(name.dropFirst())", [.init(name)])
    if let index = rest.indexes.firstIndex(of: wanted) {
      rest.indexes.remove(at: index)
      options.append(".indexed")
    }
    return options
  }

  // MARK: Relationships

  private mutating func add(_ relationship: RelationshipDescription) {
    var relationship = relationship
    relationship.isIndexedBySpotlight = false
    if let reason = reasonAgainst(relationship.name) {
      return leaveOut(relationship.name, reason, code.statement(relationship))
    }
    let destination = generator.naming.name(ofEntityNamed: relationship.destination)
    let type =
      switch (relationship.isToMany, relationship.isOrdered) {
      case (true, true): "[\(destination)]"
      case (true, false): "\(code.type("Set", of: "Swift"))<\(destination)>"
      case (false, _): destination + (relationship.isOptional ? "?" : "")
      }
    var property = property(relationship.name, type)
    if PropertyCode.saysAll(of: relationship) {
      property.arguments = PropertyCode.arguments(
        of: relationship, inverse: inverse(of: relationship), code)
    } else {
      members.append(code.statement(relationship))
    }
    properties.append(property)
  }

  /// What the property says of its inverse; `nil` for nothing.
  private func inverse(of relationship: RelationshipDescription) -> String? {
    let key = InverseChoice.Key(entity: entity.name, name: relationship.name)
    guard let name = relationship.inverse else {
      return generator.inverses.deniesInverse(key) ? "nil" : nil
    }
    guard generator.inverses.namesInverse(key) else { return nil }
    // A property whose type depends on itself is an error of the compiler.
    let isItself = name == relationship.name && relationship.destination == entity.name
    if isItself || !generator.hasProperty(inverseOf: relationship) {
      return SwiftLiteral.string(name)
    }
    return "\\\(generator.naming.name(ofEntityNamed: relationship.destination))."
      + SwiftNames.written(name)
  }

  // MARK: Names

  private func reasonAgainst(_ name: String) -> String? {
    SwiftNames.reasonAgainst(name, in: entity.declaration)
  }

  private mutating func leaveOut(_ name: String, _ reason: String, _ statement: SwiftStatement) {
    absent.append((name, reason))
    var statement = statement
    statement.comments = [Self.remark(name, reason)]
    members.append(statement)
  }

  private static func remark(_ name: String, _ reason: String) -> String {
    "No property “\(name.filter { !$0.isNewline })”: \(reason)."
  }
}
