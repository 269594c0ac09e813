import Foundation
import Quire
import QuireModel

/// A relationship of an entity.
open class NSRelationshipDescription: NSPropertyDescription {
  private var declaration: RelationshipDescription

  /// A relationship to one object, without a name and a destination.
  public override init() {
    declaration = RelationshipDescription("", toOne: "")
    super.init(name: "")
  }

  init(_ declaration: RelationshipDescription) {
    self.declaration = declaration
    super.init(name: declaration.name)
    isOptional = declaration.isOptional
    isTransient = declaration.isTransient
    renamingIdentifier = declaration.renamingIdentifier
    versionHashModifier = declaration.versionHashModifier
    takeUserInfo(declaration.userInfo)
  }

  /// The entity of the objects that the relationship refers to.
  open var destinationEntity: NSEntityDescription? {
    get { destination ?? entity?.managedObjectModel?.entitiesByName[declaration.destination] }
    set { destination = newValue }
  }
  private weak var destination: NSEntityDescription?

  /// The relationship that refers back.
  open var inverseRelationship: NSRelationshipDescription? {
    get { inverse ?? declaration.inverse.flatMap { destinationEntity?.relationshipsByName[$0] } }
    set {
      inverse = newValue
      if newValue == nil { declaration.inverse = nil }
    }
  }
  private weak var inverse: NSRelationshipDescription?

  /// The largest number of objects: 1 for a relationship to one object, 0 for no limit.
  open var maxCount: Int {
    get { declaration.maxCount }
    set { declaration.maxCount = newValue }
  }

  /// The smallest number of objects, where there are any.
  open var minCount: Int {
    get { declaration.minCount }
    set { declaration.minCount = newValue }
  }

  /// What deleting an object does to the objects that the relationship refers to.
  open var deleteRule: NSDeleteRule {
    get { declaration.deleteRule }
    set { declaration.deleteRule = newValue }
  }

  /// Whether objects keep their order.
  open var isOrdered: Bool {
    get { declaration.isOrdered }
    set { declaration.isOrdered = newValue }
  }

  /// Whether the relationship refers to many objects.
  open var isToMany: Bool { declaration.isToMany }

  override func declared() throws -> (any EntityMember)? {
    var relationship = declaration
    relationship.name = name
    if let destination { relationship.destination = destination.name ?? "" }
    if let inverse { relationship.inverse = inverse.name }
    relationship.isOptional = isOptional
    relationship.isTransient = isTransient
    relationship.renamingIdentifier = renamingIdentifier
    relationship.versionHashModifier = versionHashModifier
    relationship.userInfo = texts
    return relationship
  }
}

/// A property that a request finds.
open class NSFetchedPropertyDescription: NSPropertyDescription {
  private var declaration: FetchedPropertyDescription?

  /// A fetched property without a name and a request.
  public override init() { super.init(name: "") }

  init(_ declaration: FetchedPropertyDescription) {
    self.declaration = declaration
    super.init(name: declaration.name)
    isOptional = declaration.isOptional
    renamingIdentifier = declaration.renamingIdentifier
    versionHashModifier = declaration.versionHashModifier
    takeUserInfo(declaration.userInfo)
  }

  /// The request; its predicate may have the variables `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
  open var fetchRequest: NSFetchRequest<NSFetchRequestResult>?

  override func declared() throws -> (any EntityMember)? {
    guard
      var property = try fetchRequest.map({
        FetchedPropertyDescription(name, request: try $0.template(named: name))
      }) ?? declaration
    else { throw PersistenceError(.coreData, "the fetched property \(name) has no request") }
    property.name = name
    property.isOptional = isOptional
    property.renamingIdentifier = renamingIdentifier
    property.versionHashModifier = versionHashModifier
    property.userInfo = texts
    return property
  }
}

/// A value that a request computes, as a property of its dictionaries.
open class NSExpressionDescription: NSPropertyDescription {
  /// The expression that computes the value.
  open var expression: NSExpression?
  /// The type that the value is given as; `undefinedAttributeType` for that of the computation.
  open var expressionResultType = NSAttributeType.undefined

  /// The same under its newer name.
  public var resultType: NSAttributeDescription.AttributeType {
    get { expressionResultType }
    set { expressionResultType = newValue }
  }

  /// The result of the expression, as the type says.
  func typed(_ value: Any) -> Any {
    guard let number = cocoaNumber(value) as? NSNumber else { return value }
    switch expressionResultType {
    case .integer16, .integer32, .integer64: return NSNumber(value: number.int64Value)
    case .double, .float: return NSNumber(value: number.doubleValue)
    case .decimal:
      return (number as? NSDecimalNumber) ?? NSDecimalNumber(decimal: number.decimalValue)
    case .boolean: return NSNumber(value: number.boolValue)
    default: return number
    }
  }
}
