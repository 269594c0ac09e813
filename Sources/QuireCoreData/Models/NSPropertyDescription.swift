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
  open var userInfo: [AnyHashable: Any]?
  /// The name of the property in an earlier version of the model.
  open var renamingIdentifier: String?
  /// A text that makes another version of the entity.
  open var versionHashModifier: String?
  /// Kept for its name: the flag of old models, which has no effect.
  open var isIndexedBySpotlight = false
  /// The entity that has the property.
  open internal(set) weak var entity: NSEntityDescription?

  /// A property without a name.
  public override init() { name = "" }

  init(name: String) { self.name = name }

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

/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription {
  private var declaration: AttributeDescription
  private var limits: [NSPredicate]?

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

  /// The conditions on a value that was set by
  /// ``setValidationPredicates(_:withValidationWarnings:)``.
  open var validationPredicates: [NSPredicate] { limits ?? [] }

  /// Sets the conditions on a value: limits of a number or a date (`SELF >= 0`), of the length of a
  /// text (`length <= 80`), and a pattern (`SELF MATCHES '[a-z]+'`). Another condition stops the
  /// program when the model is used; `validateValue(_:forKey:)` is the place for it.
  open func setValidationPredicates(
    _ predicates: [NSPredicate]?, withValidationWarnings warnings: [Any]?
  ) {
    limits = predicates ?? []
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
      guard let value = AttributeValue(value, for: attribute) else {
        throw PersistenceError(
          .unacceptableValue, "the default value \(value) of \(name) is not of its type")
      }
      attribute.defaultValue = value
    }
    if let limits {
      attribute.validation = AttributeValidation()
      for limit in limits { try attribute.limit(by: limit) }
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

extension AttributeDescription {
  /// Adds the limit that a validation predicate stands for.
  fileprivate mutating func limit(by predicate: NSPredicate) throws {
    guard case .comparison(let comparison) = try predicate.fetchPredicate(),
      case .constant(.value(let bound)?) = comparison.right
    else { throw unknown(predicate) }
    let isOfLength = comparison.left == .keyPath(["length"])
    guard isOfLength || comparison.left == .evaluatedObject || comparison.left == .keyPath([])
    else { throw unknown(predicate) }
    switch (comparison.operator, bound) {
    case (.greaterThanOrEqual, .date(let date)): validation.earliestDate = date
    case (.lessThanOrEqual, .date(let date)): validation.latestDate = date
    case (.greaterThanOrEqual, .integer), (.greaterThanOrEqual, .double),
      (.greaterThanOrEqual, .decimal):
      validation.minimum = "\(bound.plainValue)"
    case (.lessThanOrEqual, .integer), (.lessThanOrEqual, .double), (.lessThanOrEqual, .decimal):
      validation.maximum = "\(bound.plainValue)"
    case (.matches, .string(let pattern)): validation.regularExpression = pattern
    default: throw unknown(predicate)
    }
  }

  private func unknown(_ predicate: NSPredicate) -> PersistenceError {
    PersistenceError(
      .unacceptableValue,
      "the validation predicate \(predicate) of \(name) is no limit of a number, a date or a text: "
        + "override validateValue(_:forKey:) for it")
  }
}
