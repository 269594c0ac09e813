import QuireModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The ancestors and typed properties that a class of managed objects declares.
///
/// Only a mirror of an object shows them, so one is made, without a context, and dropped. Most
/// types are recognised by their names: checking a type for a conformance takes a tenth of a
/// millisecond, the first time in a process.
struct DeclaredClass: Sendable {
  struct Property: Sendable {
    var name: String
    var type: DeclaredType
    /// What it says besides; `nil` of one that says nothing.
    var declaration: PropertyDeclaration?
    /// Found out once, so that a model and the objects that are made for it agree.
    var defaultValue: DeclaredDefault
  }

  /// Itself, its superclass and so on, without ``ManagedObject``; with their modules.
  let ancestry: [String]
  /// `nil` for ``ManagedObject``.
  let superclass: ManagedObject.Type?
  /// Those of superclasses come first.
  let properties: [Property]
  /// How many of the properties, the last ones, the class declares itself.
  let ownPropertyCount: Int
  /// Whether the class has a mirror of its own, which shows none of them.
  let hidesProperties: Bool

  private static let known = Mutex<[ObjectIdentifier: DeclaredClass]>([:])

  /// The declaration of a class, which is looked at once in a process.
  static func of(_ type: ManagedObject.Type) -> DeclaredClass {
    let identifier = ObjectIdentifier(type)
    if let declared = known.withLock({ $0[identifier] }) { return declared }
    // Of an entity that nobody else has: the properties are to find no slots.
    let arena = ObjectArena(.unknown(named: type.modelEntityName))
    let (object, declarations) = DeclarationRecorder.record {
      type.init(ManagedObject.Origin(arena))
    }
    let declared = DeclaredClass(object, declarations)
    known.withLock { $0[identifier] = declared }
    return declared
  }

  private init(_ object: ManagedObject, _ declarations: [PropertyDeclaration]) {
    var levels: [Mirror] = []
    // A class with a mirror of its own hides its properties; whoever reads one is told.
    hidesProperties = object is any CustomReflectable
    var mirror = hidesProperties ? nil : Mirror(reflecting: object)
    while let level = mirror, level.subjectType != ManagedObject.self {
      levels.append(level)
      mirror = level.superclassMirror
    }
    ancestry = levels.map { ClassNames.fullName(of: $0.subjectType) }
    superclass = levels.count < 2 ? nil : levels[1].subjectType as? ManagedObject.Type
    // A class makes its properties before its superclass does.
    var declarations = declarations[...]
    let byLevel = levels.map { level in
      level.children.compactMap { child -> Property? in
        guard let label = child.label, let type = DeclaredType(wrapper: type(of: child.value))
        else { return nil }
        let declaration =
          propertyByte(of: child.value) == SlotCache.mark ? declarations.popFirst() : nil
        return Property(
          name: label.hasPrefix("_") ? String(label.dropFirst()) : label, type: type,
          declaration: declaration, defaultValue: DeclaredDefault(declaration?.defaultValue))
      }
    }
    properties = byLevel.reversed().flatMap { $0 }
    ownPropertyCount = byLevel.first?.count ?? 0
  }

  /// The properties that the class declares itself.
  var ownProperties: ArraySlice<Property> { properties.suffix(ownPropertyCount) }
}

/// The default value of a typed property.
enum DeclaredDefault: Sendable {
  case none
  case constant(AttributeValue)
  /// One that is another each time, made for each new object.
  case computed(@Sendable () throws -> AttributeValue?)
  /// One that cannot be kept.
  case failed(any Error)

  /// How often a value is made to see whether it is always the same: `Bool.random()` is not.
  private static let trialCount = 24

  init(_ make: (@Sendable () throws -> AttributeValue?)?) {
    do {
      guard let make, let first = try make() else {
        self = .none
        return
      }
      // Two dates that are made at once may be one: a date is as fine as a tenth of a microsecond.
      let start = ContinuousClock.now
      while start.duration(to: .now) < .microseconds(2) {}
      for _ in 1..<Self.trialCount {
        guard let again = try make(), again.isIdentical(to: first) else {
          self = .computed(make)
          return
        }
      }
      self = .constant(first)
    } catch {
      self = .failed(error)
    }
  }
}

/// The type of a typed property.
struct DeclaredType: Sendable {
  enum Kind: Sendable {
    /// A value that stands for attributes of some types; of any, where there are none.
    case attribute([AttributeType])
    case transformable
    case object(ManagedObject.Type)
    case set(of: ManagedObject.Type)
    case array(of: ManagedObject.Type)
    /// A type that says nothing about itself.
    case unknown
  }

  let kind: Kind
  let isOptional: Bool
  /// As the program has it, nearly: `Set<Artwork>`, `Int16?`.
  let name: String

  /// - Returns: `nil` for the type of something that is no typed property.
  init?(wrapper: Any.Type) {
    let name = ClassNames.fullName(of: wrapper)
    guard name.hasPrefix(Self.wrapperPrefix) else { return nil }
    let value = name.dropFirst(Self.wrapperPrefix.count).dropLast()
    let wrapped = Self.argument(of: "Swift.Optional", in: value)
    isOptional = wrapped != nil
    self.name = Self.shortName(of: wrapped ?? value) + (wrapped == nil ? "" : "?")
    if let types = Self.attributeTypes[String(wrapped ?? value)] {
      kind = .attribute(types)
    } else {
      kind = Self.kind(of: wrapper)
    }
  }

  private static let wrapperPrefix =
    ClassNames.fullName(of: Managed<Int>.self).prefix { $0 != "<" } + "<"

  /// The types of most properties, by their names.
  private static let attributeTypes: [String: [AttributeType]] = {
    let types: [any ManagedAttribute.Type] = [
      Bool.self, String.self, Int.self, Int16.self, Int32.self, Int64.self, Double.self, Float.self,
      Decimal.self, Date.self, Data.self, UUID.self,
    ]
    var byName = [ClassNames.fullName(of: URL.self): [AttributeType.uri, .objectID]]
    for type in types { byName[ClassNames.fullName(of: type)] = type.attributeTypes }
    return byName
  }()

  private static func kind(of wrapper: Any.Type) -> Kind {
    guard let value = (wrapper as? any ManagedWrapper.Type)?.valueType else { return .unknown }
    let wrapped = (value as? any OptionalType.Type)?.wrappedType ?? value
    if let type = wrapped as? ManagedObject.Type { return .object(type) }
    if let collection = wrapped as? any CollectionOfObjects.Type {
      // A conditional conformance: the elements are objects.
      return collection.kindOfProperty
    }
    if let attribute = wrapped as? any ManagedAttribute.Type {
      return .attribute(attribute.attributeTypes)
    }
    return wrapped is any TransformableValue.Type ? .transformable : .unknown
  }

  /// The class of the objects that a relationship refers to; `nil` for an attribute.
  var destination: ManagedObject.Type? {
    switch kind {
    case .object(let type), .set(let type), .array(let type): type
    case .attribute, .transformable, .unknown: nil
    }
  }

  /// The type of the attribute that a property declares: of several that its values can be, the one
  /// that keeps them all.
  var attributeType: AttributeType? {
    switch kind {
    case .transformable: .transformable
    case .attribute(let types):
      types.last { $0.integerRange != nil } ?? types.first
    case .object, .set, .array, .unknown: nil
    }
  }

  private static func argument(of type: String, in name: Substring) -> Substring? {
    guard name.hasPrefix(type + "<") else { return nil }
    return name.dropFirst(type.count + 1).dropLast()
  }

  /// Names without their modules and enclosing types.
  private static func shortName(of name: Substring) -> String {
    var result = ""
    var word = ""
    // What is declared in a function has its context in parentheses before it.
    var depth = 0
    for character in name {
      if character == "(" { depth += 1 }
      if depth > 0 {
        if character == ")" { depth -= 1 }
        continue
      }
      switch character {
      case ".": word = ""
      case "<", ">", ",", " ":
        result += word
        result.append(character)
        word = ""
      default: word.append(character)
      }
    }
    return result + word
  }
}

// The types inside of generic types, for code that has a metatype only.

private protocol ManagedWrapper {
  static var valueType: Any.Type { get }
}

extension Managed: ManagedWrapper {
  fileprivate static var valueType: Any.Type { Value.self }
}

private protocol OptionalType {
  static var wrappedType: Any.Type { get }
}

extension Optional: OptionalType {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

private protocol CollectionOfObjects {
  static var kindOfProperty: DeclaredType.Kind { get }
}

extension Set: CollectionOfObjects where Element: ManagedObject {
  fileprivate static var kindOfProperty: DeclaredType.Kind {
    .set(of: Element.self)
  }
}

extension Array: CollectionOfObjects where Element: ManagedObject {
  fileprivate static var kindOfProperty: DeclaredType.Kind {
    .array(of: Element.self)
  }
}
