import Foundation
import QuireModel

/// Typed properties as Swift code: their types, and what `@Managed(…)` says of them.
enum PropertyCode {
  struct ValueType {
    var name: String
    var module: String
    var isOptional: Bool
  }

  /// The type of the property that represents an attribute; `nil` where there is none.
  ///
  /// A URL has no empty value, so that its property is always optional.
  static func type(of attribute: AttributeDescription) -> ValueType? {
    func value(_ name: String, of module: String) -> ValueType {
      ValueType(name: name, module: module, isOptional: attribute.isOptional)
    }
    switch attribute.type {
    case .integer16: return value("Int16", of: "Swift")
    case .integer32: return value("Int32", of: "Swift")
    case .integer64: return value("Int", of: "Swift")
    case .double: return value("Double", of: "Swift")
    case .float: return value("Float", of: "Swift")
    case .string: return value("String", of: "Swift")
    case .boolean: return value("Bool", of: "Swift")
    case .decimal: return value("Decimal", of: "Foundation")
    case .date: return value("Date", of: "Foundation")
    case .binaryData, .transformable: return value("Data", of: "Foundation")
    case .uuid: return value("UUID", of: "Foundation")
    case .uri, .objectID: return ValueType(name: "URL", module: "Foundation", isOptional: true)
    case .undefined, .composite: return nil
    }
  }

  /// Whether the property and the arguments of `@Managed` say everything that the model says.
  static func saysAll(of attribute: AttributeDescription, _ code: ModelCode) -> Bool {
    switch attribute.type {
    case .undefined, .composite, .transformable, .objectID: return false
    case .uri: if !attribute.isOptional { return false }
    case .integer16, .integer32, .integer64:
      if case .integer(let number)? = attribute.defaultValue,
        attribute.type.integerRange?.contains(number) != true
      {
        return false
      }
    case .decimal, .double, .float, .string, .boolean, .date, .binaryData, .uuid: break
    }
    return attribute.userInfo.isEmpty && attribute.elements.isEmpty
      && attribute.valueTransformerName == nil && attribute.valueClassName == nil
      && (attribute.defaultValue == nil || attribute.derivationExpression == nil)
      && !AttributeLimitCode(attribute, code).isInexpressible
  }

  static func saysAll(of relationship: RelationshipDescription) -> Bool {
    relationship.userInfo.isEmpty && (relationship.isOptional || !relationship.isToMany)
  }

  // MARK: Arguments

  /// - Parameter options: those that the attribute itself does not tell.
  static func arguments(
    of attribute: AttributeDescription, options: [String], _ code: ModelCode
  ) -> [SwiftArgument] {
    var options = options
    if attribute.isTransient { options.append(".transient") }
    if attribute.allowsExternalBinaryDataStorage { options.append(".external") }
    if attribute.preservesValueInHistoryOnDeletion { options.append(".keptInHistory") }
    var arguments = ModelCode.Arguments()
    if options.count == 1 {
      arguments.list.append(SwiftArgument(text: options[0]))
    } else if !options.isEmpty {
      arguments.list.append(SwiftArgument(nil, .array(options.map { .text($0) })))
    }
    if let limits = AttributeLimitCode(attribute, code).argument { arguments.list.append(limits) }
    arguments.add("pattern", attribute.validation.regularExpression)
    arguments.add("derivedFrom", attribute.derivationExpression)
    arguments.add("renamedFrom", attribute.renamingIdentifier)
    arguments.add("versionHashModifier", attribute.versionHashModifier)
    return arguments.list
  }

  /// - Parameter inverse: code; `nil` to say nothing.
  static func arguments(
    of relationship: RelationshipDescription, inverse: String?, _ code: ModelCode
  ) -> [SwiftArgument] {
    var arguments = ModelCode.Arguments()
    arguments.add("inverse", inverse) { .text($0) }
    if relationship.deleteRule != .nullify {
      arguments.add("deleteRule", text: ".\(relationship.deleteRule)")
    }
    if relationship.isToMany {
      arguments.add("count", code.count(of: relationship)) { $0 }
    } else if relationship.minCount != 0 {
      arguments.add("minCount", text: "\(relationship.minCount)")
    }
    arguments.add(flag: "transient", relationship.isTransient)
    arguments.add("renamedFrom", relationship.renamingIdentifier)
    arguments.add("versionHashModifier", relationship.versionHashModifier)
    return arguments.list
  }

  // MARK: Default values

  /// A default value in the place of a property's first value.
  static func value(
    _ value: AttributeValue, isOptional: Bool, _ code: ModelCode
  ) -> SwiftExpression {
    // What may fail is an optional, which an optional property takes as it is.
    let end = isOptional ? "" : "!"
    func special(_ number: Double, _ type: String) -> String {
      code.type(type, of: "Swift") + SwiftLiteral.special(number).replacing("-", with: "")
    }
    switch value {
    case .boolean(let flag): return .text("\(flag)")
    case .integer(let number): return .text("\(number)")
    case .double(let number) where number.isFinite: return .text(SwiftLiteral.number(number))
    case .double(let number): return .text((number < 0 ? "-" : "") + special(number, "Double"))
    case .float(let number) where number.isFinite: return .text(SwiftLiteral.number(number))
    case .float(let number):
      return .text((number < 0 ? "-" : "") + special(Double(number), "Float"))
    case .string(let text): return .string(text)
    case .decimal(let number):
      if number.isNaN { return .text("\(code.type("Decimal", of: "Foundation")).nan") }
      // A literal with a fraction would be a `Double` first.
      if Int("\(number)") != nil { return .text("\(number)") }
      return code.foundation("Decimal(string: \"\(number)\")\(end)")
    case .date(let date): return code.foundation(SwiftLiteral.date(date))
    case .binary(let data), .transformed(let data):
      let text = SwiftLiteral.data(data)
      return code.foundation(text.hasSuffix("!") ? text.dropLast() + end : text)
    case .uuid(let uuid): return code.foundation("UUID(uuidString: \"\(uuid.uuidString)\")\(end)")
    case .uri(let url), .objectID(let url):
      return code.foundation("URL(string: \(SwiftLiteral.string(url.absoluteString)))\(end)")
    // No property of this kind has a default value.
    case .composite: return code.value(of: value, nil)
    }
  }
}
