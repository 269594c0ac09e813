import QuireModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a class of managed objects declares: its ancestors, and its typed properties.
///
/// Nothing but an object tells what its class declares, so one is made, without a context, looked
/// at in a mirror, and dropped. Most types are told by their names: whether a type conforms to a
/// protocol takes a tenth of a millisecond to find out, the first time in a process.
struct DeclaredClass: Sendable {
  struct Property: Sendable {
    var name: String
    var type: DeclaredType
  }

  /// Itself, its superclass and so on, without ``ManagedObject``; with their modules.
  let ancestry: [String]
  /// Those of superclasses come first.
  let properties: [Property]

  private static let known = Mutex<[ObjectIdentifier: DeclaredClass]>([:])

  /// The declaration of a class, which is looked at once in a process.
  ///
  /// - Parameter binding: of an entity that the class is for.
  static func of(_ type: ManagedObject.Type, _ binding: EntityBinding) -> DeclaredClass {
    let identifier = ObjectIdentifier(type)
    if let declared = known.withLock({ $0[identifier] }) { return declared }
    let declared = DeclaredClass(type.init(ManagedObject.Origin(ObjectArena(binding))))
    known.withLock { $0[identifier] = declared }
    return declared
  }

  private init(_ object: ManagedObject) {
    var levels: [Mirror] = []
    // A class with a mirror of its own hides its properties; whoever reads one is told.
    var mirror = object is any CustomReflectable ? nil : Mirror(reflecting: object)
    while let level = mirror, level.subjectType != ManagedObject.self {
      levels.append(level)
      mirror = level.superclassMirror
    }
    ancestry = levels.map { ClassNames.fullName(of: $0.subjectType) }
    properties = levels.reversed().flatMap { level in
      level.children.compactMap { child in
        guard let label = child.label, let type = DeclaredType(wrapper: type(of: child.value))
        else { return nil }
        return Property(name: label.hasPrefix("_") ? String(label.dropFirst()) : label, type: type)
      }
    }
  }
}

/// The type of a typed property.
struct DeclaredType: Sendable {
  enum Kind: Sendable {
    /// A value that stands for attributes of some types; of any, where there are none.
    case attribute([AttributeType])
    case transformable
    /// A class, with its module.
    case object(String)
    case set(of: String)
    case array(of: String)
    /// A type that says nothing about itself.
    case unknown
  }

  let kind: Kind
  /// As the program has it, nearly: `Set<Artwork>`, `Int16?`.
  let name: String

  /// - Returns: `nil` for the type of something that is no typed property.
  init?(wrapper: Any.Type) {
    let name = ClassNames.fullName(of: wrapper)
    guard name.hasPrefix(Self.wrapperPrefix) else { return nil }
    let value = name.dropFirst(Self.wrapperPrefix.count).dropLast()
    let wrapped = Self.argument(of: "Swift.Optional", in: value)
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
    if let type = wrapped as? ManagedObject.Type { return .object(ClassNames.fullName(of: type)) }
    if let collection = wrapped as? any CollectionOfObjects.Type {
      // A conditional conformance: the elements are objects.
      return collection.kindOfProperty
    }
    if let attribute = wrapped as? any ManagedAttribute.Type {
      return .attribute(attribute.attributeTypes)
    }
    return wrapped is any TransformableValue.Type ? .transformable : .unknown
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

// What the type of a property says of the type in it, for those who have the former alone.

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
    .set(of: ClassNames.fullName(of: Element.self))
  }
}

extension Array: CollectionOfObjects where Element: ManagedObject {
  fileprivate static var kindOfProperty: DeclaredType.Kind {
    .array(of: ClassNames.fullName(of: Element.self))
  }
}
