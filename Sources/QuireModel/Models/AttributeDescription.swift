#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An attribute of an entity: a name, a type, and the rules its values obey.
///
/// In code that builds a model the short name ``Attribute`` reads better:
///
/// ```swift
/// Attribute("title", .string, optional: false, default: "Untitled")
/// ```
///
/// ## Example
///
/// Attributes with a default value and with limits. The default is there at once; limits are
/// checked when the object is saved:
///
/// ```swift
/// let model = try ManagedObjectModel {
///   Entity("Artwork") {
///     Attribute("title", .string, optional: false, default: "Untitled", length: 1...200)
///     Attribute("year", .integer16, range: 1400...2100)
///   }
/// }
/// let context = try ManagedObjectContext.stubbed(model)
/// let artwork = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
/// print(try artwork.value(forKey: "title") ?? "nothing")
/// try artwork.setValue(1066, forKey: "year")
/// do {
///   try context.save()
/// } catch let error as PersistenceError {
///   print(error.code.rawValue, error.message)
/// }
/// ```
///
/// prints
///
/// ```
/// Untitled
/// 1620 Artwork.year is 1066; the smallest allowed is 1400
/// ```
public struct AttributeDescription: Hashable, Sendable {
  /// The name, under which objects have the value: unique among the properties of the entity and
  /// its ancestors.
  public var name: String
  /// The type of the values.
  public var type: AttributeType
  /// Whether an object may be saved without a value.
  public var isOptional = true
  /// A transient attribute lives in memory only. Objects read from a store have no value of one,
  /// unless it is required: then they have its default.
  public var isTransient = false
  /// The value of new objects, and of the rows of a migrated store that lack a required one; `nil`
  /// for none. It is a value of ``type``.
  public var defaultValue: AttributeValue?
  /// The name this attribute had in an earlier version, when it was renamed.
  public var renamingIdentifier: String?
  /// Changes the version hash without any other change of the model.
  public var versionHashModifier: String?
  /// The elements of a composite attribute, in order; empty for any other type.
  public var elements: [AttributeDescription] = []
  /// The limits that values are checked against when an object is saved.
  public var validation = AttributeValidation()
  /// The name under which the transformer of a transformable attribute is registered with the
  /// coordinator. Without one, values are set and read as `Data`.
  public var valueTransformerName: String?
  /// The Swift or Objective-C class of a transformable value.
  public var valueClassName: String?
  /// Whether large values, of more than 102,400 bytes, may be kept outside the row. Reading the row
  /// then does not read them; they are read when they are used.
  public var allowsExternalBinaryDataStorage = false
  /// The expression of a derived attribute, such as `artworks.@count`. The store computes it when a
  /// property that it depends on is saved; a value assigned to the attribute is not saved. Objects
  /// show it when they are saved or refreshed. It follows changes of other objects only where all
  /// relationships on its path have an inverse. In a required attribute the default represents no
  /// value.
  public var derivationExpression: String?
  /// Whether the value of a deleted object is kept in the history.
  public var preservesValueInHistoryOnDeletion = false
  /// Whether Xcode declares the property with a number type instead of a class. Kept from the
  /// model; nothing here depends on it.
  public var usesScalarValueType = false
  /// Whether Core Data gives the values to Spotlight. Kept from the model; nothing here depends on
  /// it.
  public var isIndexedBySpotlight = false
  /// Whether Core Data encrypts the values in iCloud. Kept from the model; nothing here depends on
  /// it.
  public var allowsCloudEncryption = false
  /// The old single-attribute index flag; fetch indexes on the entity say more.
  public var isIndexed = false
  /// Texts of the application's own by its own keys, no part of the version hash.
  public var userInfo: [String: String] = [:]

  /// - Parameters:
  ///   - defaultValue: the value of new objects, and of rows that lack one after a migration.
  ///   - range: the smallest and the largest number, or the earliest and the latest date: `0...5`,
  ///     `0.5...`, `...deadline`.
  ///   - length: the number of characters of a text: `1...200`.
  ///   - pattern: a regular expression for the whole of a text.
  ///   - derivationExpression: the expression that computes the value at each save:
  ///     `artworks.@count`.
  ///   - transformerName: the name under which a transformable attribute's transformer is known.
  ///   - valueClassName: the type of a transformable attribute's values.
  ///   - storedExternally: whether large binary values may be kept outside the row.
  ///   - indexed: the index flag of old models; see ``FetchIndexDescription``.
  ///   - renamingIdentifier: the name in an earlier version of the model.
  ///   - versionHashModifier: any text; another text makes another version of the attribute.
  ///   - elements: the attributes that a composite attribute is made of.
  public init(
    _ name: String, _ type: AttributeType, optional: Bool = true,
    default defaultValue: AttributeValue? = nil, transient: Bool = false,
    range: (any AttributeLimits)? = nil, length: (any AttributeLimits<Int>)? = nil,
    pattern: String? = nil, derivedFrom derivationExpression: String? = nil,
    transformer transformerName: String? = nil, valueClass valueClassName: String? = nil,
    storedExternally: Bool = false, indexed: Bool = false,
    renamedFrom renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:],
    @ElementBuilder elements: () -> [AttributeDescription] = { [] }
  ) {
    self.name = name
    self.type = type
    self.isOptional = optional
    self.defaultValue = defaultValue?.asNumber(of: type)
    self.isTransient = transient
    if let range { validation.limit(to: range) }
    if let length { validation.limit(to: length) }
    validation.regularExpression = pattern
    self.derivationExpression = derivationExpression
    self.valueTransformerName = transformerName
    self.valueClassName = valueClassName
    self.allowsExternalBinaryDataStorage = storedExternally
    self.isIndexed = indexed
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    self.elements = elements()
  }
}

/// The short name of ``AttributeDescription`` for models written in code.
public typealias Attribute = AttributeDescription

/// Collects the elements between the braces of a composite ``Attribute``.
@resultBuilder
public enum ElementBuilder {
  /// One attribute of a declaration.
  public static func buildExpression(
    _ element: AttributeDescription
  ) -> [AttributeDescription] { [element] }
  public static func buildExpression(_ elements: Attributes) -> [AttributeDescription] {
    elements.attributes
  }
  public static func buildBlock(_ elements: [AttributeDescription]...) -> [AttributeDescription] {
    elements.flatMap { $0 }
  }
}

extension AttributeValue {
  /// A number as the type keeps it, so that `default: 0` is a default for any kind of number.
  fileprivate func asNumber(of type: AttributeType) -> AttributeValue {
    switch (self, type) {
    case (.integer(let number), .double): .double(Double(number))
    case (.integer(let number), .float): .float(Float(number))
    case (.integer(let number), .decimal): .decimal(Decimal(number))
    case (.double(let number), .float): .float(Float(number))
    case (.double(let number), .decimal): Decimal(shortest: number).map { .decimal($0) } ?? self
    default: self
    }
  }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
