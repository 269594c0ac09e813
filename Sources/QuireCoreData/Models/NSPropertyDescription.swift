import Foundation
import Quire
import QuireModel

/// A property of an entity, which can be changed until its model is used.
///
/// A description keeps the declaration that it was made of, with everything that Core Data has no
/// name for; what can be changed here is put into it when the model is made.
open class NSPropertyDescription: NSObject {
  /// The name of the property.
  open var name: String
  /// Whether an object may be saved without a value.
  open var isOptional = true
  /// Whether the value is in memory alone.
  open var isTransient = false
  /// Texts of the application's own.
  open var userInfo: [AnyHashable: Any]? = [:]
  /// The name of the property in an earlier version of the model.
  open var renamingIdentifier: String?
  /// A text that makes another version of the entity.
  open var versionHashModifier: String?
  /// Kept for its name: the flag of old models, which has no effect.
  open var isIndexedBySpotlight = false
  /// The entity that has the property.
  open internal(set) weak var entity: NSEntityDescription!

  /// What ``setValidationPredicates(_:withValidationWarnings:)`` has set; `nil` before.
  private(set) var validation: [ValidationCondition]?

  /// A property without a name.
  public override init() { name = "" }

  init(name: String) { self.name = name }

  /// The conditions on a value that were set by
  /// ``setValidationPredicates(_:withValidationWarnings:)``.
  open var validationPredicates: [NSPredicate] { (validation ?? []).map(\.predicate) }

  /// What ``setValidationPredicates(_:withValidationWarnings:)`` says of values that do not fulfil
  /// a condition.
  open var validationWarnings: [Any] { (validation ?? []).compactMap(\.warning) }

  /// Sets the conditions on a value, which is what a predicate is evaluated with. A property
  /// without a value fulfils them.
  ///
  /// A single limit of a number, a date or the length of a text (`SELF >= 0`, `length <= 80`) and a
  /// pattern (`SELF MATCHES '[a-z]+'`) become limits of the model, whose errors have codes of their
  /// own. Any other condition is error 1550, or has the code of its warning.
  ///
  /// - Parameter warnings: a text or the code of an error for each condition, in their order.
  open func setValidationPredicates(
    _ predicates: [NSPredicate]?, withValidationWarnings warnings: [Any]?
  ) {
    let warnings = warnings ?? []
    validation = (predicates ?? []).enumerated().map { index, predicate in
      ValidationCondition(
        predicate: predicate, warning: warnings.indices.contains(index) ? warnings[index] : nil)
    }
  }

  /// Whether the other object is a property of an entity of that name, and says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    if self === other { return true }
    guard type(of: self) == type(of: other), name == other.name,
      entity?.name == other.entity?.name
    else { return false }
    let (mine, its) = (Entity("", with: self), Entity("", with: other))
    return mine != nil && mine == its && conditions == other.conditions
  }

  /// Equal properties have equal hashes.
  open override var hash: Int { name.hashValue }

  /// The conditions that are no limits of the model.
  var conditions: [ValidationCondition] { validation ?? [] }

  /// The user info as Quire keeps it, which has texts alone.
  var texts: [String: String] {
    var texts: [String: String] = [:]
    for (key, value) in userInfo ?? [:] { texts["\(key.base)"] = "\(value)" }
    return texts
  }

  /// The property as Quire declares it; `nil` for one that is computed by a request alone.
  func declared() throws -> (any EntityMember)? { nil }

  func takeUserInfo(_ texts: [String: String]) { if !texts.isEmpty { userInfo = texts } }
}

extension Entity {
  /// An entity with one property; `nil` for one that is computed by a request, or has a mistake.
  fileprivate init?(_ name: String, with property: NSPropertyDescription) {
    guard let member = try? property.declared() else { return nil }
    self.init(name)
    member.add(to: &self)
  }
}

extension [NSEntityDescription] {
  /// Whether properties have the same conditions in both lists of equal entities.
  func hasConditions(of others: [NSEntityDescription]) -> Bool {
    func conditions(_ entities: [NSEntityDescription]) -> [String: [ValidationCondition]] {
      var found: [String: [ValidationCondition]] = [:]
      for entity in entities {
        for property in entity.properties where !property.conditions.isEmpty {
          found["\(entity.name ?? "").\(property.name)"] = property.conditions
        }
      }
      return found
    }
    return conditions(self) == conditions(others)
  }
}

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription {
  private var declaration: AttributeDescription

  /// An attribute without a name and a type.
  public override init() {
    declaration = AttributeDescription("", .undefined)
    super.init(name: "")
  }

  init(_ declaration: AttributeDescription) {
    self.declaration = declaration
    super.init(name: declaration.name)
    isOptional = declaration.isOptional
    isTransient = declaration.isTransient
    renamingIdentifier = declaration.renamingIdentifier
    versionHashModifier = declaration.versionHashModifier
    takeUserInfo(declaration.userInfo)
  }

  /// The type of the values.
  open var attributeType: NSAttributeType {
    get { declaration.type }
    set { declaration.type = newValue }
  }

  /// The types of attributes by their short names, such as `.string`.
  public typealias AttributeType = NSAttributeType

  /// The type of the values, by its short name.
  public var type: AttributeType {
    get { attributeType }
    set { attributeType = newValue }
  }

  /// The name of the class of the values of a transformable attribute.
  open var attributeValueClassName: String? {
    get { declaration.valueClassName }
    set { declaration.valueClassName = newValue }
  }

  /// The name of the transformer of a transformable attribute.
  open var valueTransformerName: String? {
    get { declaration.valueTransformerName }
    set { declaration.valueTransformerName = newValue }
  }

  /// The value of new objects.
  open var defaultValue: Any? {
    get { givenDefault ?? declaration.defaultValue.map { cocoaNumber($0.plainValue) } }
    set { (givenDefault, declaration.defaultValue) = (newValue, nil) }
  }
  private var givenDefault: Any?

  /// Whether large data are kept apart from the row.
  open var allowsExternalBinaryDataStorage: Bool {
    get { declaration.allowsExternalBinaryDataStorage }
    set { declaration.allowsExternalBinaryDataStorage = newValue }
  }

  /// Whether the history keeps the value of a deleted object.
  open var preservesValueInHistoryOnDeletion: Bool {
    get { declaration.preservesValueInHistoryOnDeletion }
    set { declaration.preservesValueInHistoryOnDeletion = newValue }
  }

  override var conditions: [ValidationCondition] {
    var attribute = declaration
    attribute.validation = AttributeValidation()
    return super.conditions.filter { !attribute.takeLimit($0.predicate) }
  }

  override func declared() throws -> (any EntityMember)? { try attribute() }

  func declaredElements() throws -> [AttributeDescription] { declaration.elements }

  func attribute() throws -> AttributeDescription {
    var attribute = declaration
    attribute.name = name
    attribute.isOptional = isOptional
    attribute.isTransient = isTransient
    attribute.renamingIdentifier = renamingIdentifier
    attribute.versionHashModifier = versionHashModifier
    attribute.userInfo = texts
    attribute.elements = try declaredElements()
    if let value = plainValue(givenDefault) {
      guard let value = try AttributeValue(default: value, for: attribute) else {
        throw PersistenceError(
          .unacceptableValue, "the default value \(value) of \(name) is not of its type")
      }
      attribute.defaultValue = value
    }
    if let validation {
      attribute.validation = AttributeValidation()
      for condition in validation { _ = attribute.takeLimit(condition.predicate) }
    }
    return attribute
  }
}

/// An attribute whose values have elements: a dictionary by the elements' names, of which key paths
/// and predicates read one, as in `address.city`.
open class NSCompositeAttributeDescription: NSAttributeDescription {
  /// The attributes that a value has as elements, which may be composite as well.
  open var elements: [NSAttributeDescription]

  /// A composite attribute without a name and elements.
  public override init() {
    elements = []
    super.init()
    attributeType = .composite
  }

  override init(_ declaration: AttributeDescription) {
    elements = declaration.elements.map(NSAttributeDescription.of)
    super.init(declaration)
  }

  override func declaredElements() throws -> [AttributeDescription] {
    try elements.map { try $0.attribute() }
  }
}

extension NSAttributeDescription {
  /// The description of an attribute of any kind but a derived one.
  static func of(_ declaration: AttributeDescription) -> NSAttributeDescription {
    declaration.type == .composite
      ? NSCompositeAttributeDescription(declaration) : NSAttributeDescription(declaration)
  }
}

/// An attribute whose value is computed when an object is saved.
open class NSDerivedAttributeDescription: NSAttributeDescription {
  /// The expression that computes the value.
  open var derivationExpression: NSExpression?

  override func attribute() throws -> AttributeDescription {
    var attribute = try super.attribute()
    attribute.derivationExpression = derivationExpression?.description
    return attribute
  }
}

extension AttributeValue {
  /// A default value: of a transformable attribute, the data that its transformer makes of it.
  fileprivate init?(default value: Any, for attribute: AttributeDescription) throws {
    if attribute.type == .transformable, let name = attribute.valueTransformerName,
      NamedTransformer.isKnown(name)
    {
      self = .transformed(try NamedTransformer(name: name).transformedValue(value))
    } else {
      self.init(value, for: attribute)
    }
  }
}

extension AttributeDescription {
  /// Adds the limit that a validation predicate represents.
  ///
  /// - Returns: whether it is one that a model has, and has not yet.
  fileprivate mutating func takeLimit(_ predicate: NSPredicate) -> Bool {
    guard case .comparison(let comparison)? = try? predicate.fetchPredicate(),
      case .constant(.value(let bound)?) = comparison.right, comparison.modifier == .direct,
      comparison.options.isEmpty
    else { return false }
    let isOfLength = comparison.left == .keyPath(["length"])
    let isOfValue = comparison.left == .evaluatedObject || comparison.left == .keyPath([])
    guard isOfLength ? type == .string : isOfValue else { return false }
    switch (comparison.operator, bound) {
    case (.greaterThanOrEqual, .date(let date)):
      return set(date, \.earliestDate, isApplicable: type == .date)
    case (.lessThanOrEqual, .date(let date)):
      return set(date, \.latestDate, isApplicable: type == .date)
    case (.greaterThanOrEqual, .integer), (.greaterThanOrEqual, .double),
      (.greaterThanOrEqual, .decimal):
      return set("\(bound.plainValue)", \.minimum, isApplicable: isOfLength || type.isNumber)
    case (.lessThanOrEqual, .integer), (.lessThanOrEqual, .double), (.lessThanOrEqual, .decimal):
      return set("\(bound.plainValue)", \.maximum, isApplicable: isOfLength || type.isNumber)
    case (.matches, .string(let pattern)):
      return set(pattern, \.regularExpression, isApplicable: type == .string && isOfValue)
    default: return false
    }
  }

  private mutating func set<Value>(
    _ value: Value, _ limit: WritableKeyPath<AttributeValidation, Value?>, isApplicable: Bool
  ) -> Bool {
    guard isApplicable, validation[keyPath: limit] == nil else { return false }
    validation[keyPath: limit] = value
    return true
  }
}

extension AttributeType {
  fileprivate var isNumber: Bool {
    [.integer16, .integer32, .integer64, .decimal, .double, .float].contains(self)
  }
}
