import Foundation
import QuireModel

/// Parts of a model as Swift code in the words of models: `Attribute("title", .string)`.
struct ModelCode {
  /// The classes of the program. A type of the libraries with the name of one is written with its
  /// module.
  let classNames: Set<String>

  /// A type of the library as the code has to write it.
  func type(_ name: String, of module: String = "QuireModel") -> String {
    classNames.contains(name) ? "\(module).\(name)" : name
  }

  /// - Parameter code: a call of an initialiser of one of Foundation's types.
  func foundation(_ code: String) -> SwiftExpression { .foundation(qualified(code)) }

  private func qualified(_ code: String) -> String {
    let name = String(code.prefix { $0 != "(" })
    return type(name, of: "Foundation") + code.dropFirst(name.count)
  }

  func date(_ date: Date) -> String { qualified(SwiftLiteral.date(date)) }

  // MARK: Entities

  /// - Parameter members: those that come before the indexes and constraints.
  func statement(_ entity: Entity, isInClass: Bool, members: [SwiftStatement]) -> SwiftStatement {
    var arguments = Arguments([SwiftArgument(nil, .string(entity.name))])
    arguments.add("class", entity.managedObjectClassName)
    if !isInClass { arguments.add("parent", entity.parent) }
    if entity.isAbstract { arguments.add("abstract", text: "true") }
    arguments.add("renamedFrom", entity.renamingIdentifier)
    arguments.add("versionHashModifier", entity.versionHashModifier)
    arguments.add(userInfo: entity.userInfo)
    var statement = SwiftStatement(type("Entity"), arguments.list)
    statement.members =
      members + entity.fetchedProperties.map { self.statement($0) }
      + entity.indexes.map { self.statement($0) }
      + entity.uniquenessConstraints.map { constraint in
        SwiftStatement(
          type("UniquenessConstraint"), constraint.map { SwiftArgument(nil, .string($0)) })
      }
    if let expression = entity.coreSpotlightDisplayNameExpression {
      statement.changes.append(
        ("coreSpotlightDisplayNameExpression", .string(expression)))
    }
    return statement
  }

  func statement(_ attribute: AttributeDescription) -> SwiftStatement {
    var arguments = Arguments([
      SwiftArgument(nil, .string(attribute.name)), SwiftArgument(text: ".\(attribute.type)"),
    ])
    if !attribute.isOptional { arguments.add("optional", text: "false") }
    arguments.add("default", attribute.defaultValue) { value(of: $0, attribute.type) }
    arguments.add(flag: "transient", attribute.isTransient)
    let limits = AttributeLimitCode(attribute, self)
    if let argument = limits.argument { arguments.list.append(argument) }
    arguments.add("pattern", attribute.validation.regularExpression)
    arguments.add("derivedFrom", attribute.derivationExpression)
    arguments.add("transformer", attribute.valueTransformerName)
    arguments.add("valueClass", attribute.valueClassName)
    arguments.add(flag: "storedExternally", attribute.allowsExternalBinaryDataStorage)
    arguments.add(flag: "indexed", attribute.isIndexed)
    arguments.add("renamedFrom", attribute.renamingIdentifier)
    arguments.add("versionHashModifier", attribute.versionHashModifier)
    arguments.add(userInfo: attribute.userInfo)
    var statement = SwiftStatement(type("Attribute"), arguments.list)
    statement.members = attribute.elements.map { self.statement($0) }
    if limits.argument == nil {
      statement.changes += changes(of: attribute.validation)
    }
    for (name, isSet) in [
      ("preservesValueInHistoryOnDeletion", attribute.preservesValueInHistoryOnDeletion),
      ("usesScalarValueType", attribute.usesScalarValueType),
      ("isIndexedBySpotlight", attribute.isIndexedBySpotlight),
      ("allowsCloudEncryption", attribute.allowsCloudEncryption),
    ] where isSet {
      statement.changes.append((name, .text("true")))
    }
    return statement
  }

  /// Limits that are no range of literals.
  private func changes(of limits: AttributeValidation) -> [(String, SwiftExpression)] {
    [
      ("minimum", limits.minimum.map { SwiftExpression.string($0) }),
      ("maximum", limits.maximum.map { SwiftExpression.string($0) }),
      ("earliestDate", limits.earliestDate.map { foundation(SwiftLiteral.date($0)) }),
      ("latestDate", limits.latestDate.map { foundation(SwiftLiteral.date($0)) }),
    ].compactMap { name, value in value.map { ("validation.\(name)", $0) } }
  }

  func statement(_ relationship: RelationshipDescription) -> SwiftStatement {
    let isToMany = relationship.isToMany
    var arguments = Arguments([
      SwiftArgument(nil, .string(relationship.name)),
      SwiftArgument(
        isToMany ? "toMany" : "toOne", .string(relationship.destination)),
    ])
    arguments.add("inverse", relationship.inverse)
    arguments.add(flag: "ordered", relationship.isOrdered)
    if isToMany { arguments.add("count", count(of: relationship)) { $0 } }
    if relationship.deleteRule != .nullify {
      arguments.add("deleteRule", text: ".\(relationship.deleteRule)")
    }
    if !relationship.isOptional { arguments.add("optional", text: "false") }
    if !isToMany, relationship.minCount != 0 {
      arguments.add("minCount", text: "\(relationship.minCount)")
    }
    arguments.add(flag: "transient", relationship.isTransient)
    arguments.add("renamedFrom", relationship.renamingIdentifier)
    arguments.add("versionHashModifier", relationship.versionHashModifier)
    arguments.add(userInfo: relationship.userInfo)
    var statement = SwiftStatement(type("Relationship"), arguments.list)
    if relationship.isIndexedBySpotlight {
      statement.changes.append(("isIndexedBySpotlight", .text("true")))
    }
    return statement
  }

  /// - Returns: `nil` where any number of destinations is legal.
  func count(of relationship: RelationshipDescription) -> SwiftExpression? {
    let (least, most) = (relationship.minCount, relationship.maxCount)
    if least == 0, most == 0 { return nil }
    return .text("\(least)...\(most == 0 ? "\(type("Int", of: "Swift")).max" : "\(most)")")
  }

  // MARK: Values

  /// - Parameter type: of the attribute, whose initialiser makes numbers of other literals;
  ///   `nil` of an element of a composite value, where nothing does.
  func value(of value: AttributeValue, _ type: AttributeType?) -> SwiftExpression {
    switch value {
    case .boolean(let flag): .text("\(flag)")
    case .integer(let number): .text("\(number)")
    case .double(let number): double(number, isConverted: type == .double)
    case .float(let number): float(number, isConverted: type == .float)
    case .decimal(let number): decimal(number, isConverted: type == .decimal)
    case .string(let text): .string(text)
    case .date(let date): wrapped("date", SwiftLiteral.date(date))
    case .binary(let data): wrapped("binary", SwiftLiteral.data(data))
    case .transformed(let data): wrapped("transformed", SwiftLiteral.data(data))
    case .uuid(let uuid):
      wrapped("uuid", "UUID(uuidString: \(SwiftLiteral.string(uuid.uuidString)))!")
    case .uri(let url): wrapped("uri", address(url))
    case .objectID(let url): wrapped("objectID", address(url))
    case .composite(let values):
      .call(
        ".composite",
        [
          SwiftArgument(
            nil,
            .dictionary(
              values.sorted { $0.key < $1.key }.map {
                (SwiftLiteral.string($0.key), self.value(of: $0.value, nil))
              }))
        ])
    }
  }

  private func wrapped(_ name: String, _ code: String) -> SwiftExpression {
    .call(".\(name)", [SwiftArgument(nil, foundation(code))])
  }

  private func address(_ url: URL) -> String {
    "URL(string: \(SwiftLiteral.string(url.absoluteString)))!"
  }

  private func double(_ number: Double, isConverted: Bool) -> SwiftExpression {
    if !number.isFinite { return .text(".double(\(SwiftLiteral.special(number)))") }
    return .text(isConverted ? SwiftLiteral.number(number) : "\(number)")
  }

  private func float(_ number: Float, isConverted: Bool) -> SwiftExpression {
    if !number.isFinite { return .text(".float(\(SwiftLiteral.special(Double(number))))") }
    return .text(
      isConverted ? SwiftLiteral.number(number) : ".float(\(SwiftLiteral.number(number)))")
  }

  private func decimal(_ number: Decimal, isConverted: Bool) -> SwiftExpression {
    if number.isNaN { return .text(".decimal(.nan)") }
    let text = "\(number)"
    if Int64(text) != nil {
      return .text(isConverted ? text : ".decimal(\(text))")
    }
    if isConverted, SwiftLiteral.isExact(number) { return .text(text) }
    return wrapped("decimal", "Decimal(string: \(SwiftLiteral.string(text)))!")
  }
}

extension ModelCode {
  /// Arguments that are left out where they say nothing.
  struct Arguments {
    var list: [SwiftArgument]

    init(_ list: [SwiftArgument] = []) { self.list = list }

    mutating func add<Value>(
      _ label: String, _ value: Value?, _ code: (Value) -> SwiftExpression
    ) {
      if let value { list.append(SwiftArgument(label, code(value))) }
    }

    mutating func add(_ label: String, _ text: String?) { add(label, text) { .string($0) } }

    mutating func add(_ label: String, text: String) {
      list.append(SwiftArgument(label, text: text))
    }

    mutating func add(userInfo: [String: String]) {
      if !userInfo.isEmpty { list.append(SwiftArgument("userInfo", .texts(userInfo))) }
    }

    mutating func add(flag label: String, _ isSet: Bool) {
      if isSet { list.append(SwiftArgument(label, text: "true")) }
    }
  }
}
