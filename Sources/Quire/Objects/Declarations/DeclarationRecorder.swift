import QuireModel
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a property says of itself besides its type.
struct PropertyDeclaration: Sendable {
  enum Kind: Sendable {
    /// Without name, type and default value.
    case attribute(AttributeDescription, AttributeOptions)
    /// Without name and destination.
    case relationship(RelationshipDescription, Inverse)
  }

  enum Inverse: Sendable {
    case none
    case unsaid
    case named(String)
    case path(InversePath)

    var isPath: Bool { if case .path = self { true } else { false } }
  }

  let kind: Kind
  /// Makes the default value, if there is one.
  let defaultValue: (@Sendable () throws -> AttributeValue?)?
}

/// A key path that leads to the inverse of a relationship.
struct InversePath: Sendable {
  /// Finds the names along the path, from an entity of a model.
  let names:
    @Sendable (
      _ destination: EntityBinding, _ model: ModelBinding, _ classes: ObjectClasses
    ) throws -> [String]
}

/// Collects what the properties of one class say of themselves, while an object of it is made to be
/// looked at.
///
/// `@unchecked Sendable`: a task-local value has to be; it is used within ``record(_:)`` alone, by
/// the thread that called it.
@usableFromInline
final class DeclarationRecorder: @unchecked Sendable {
  @TaskLocal private static var current: DeclarationRecorder?
  /// How many classes are being looked at in the process.
  @usableFromInline static let count = Atomic<Int>(0)

  private var declarations: [PropertyDeclaration] = []

  /// Whether a property that is being made may have to say what it declares: somewhere in the
  /// process, which ``SlotCache/mark`` then tells of this object.
  @inlinable
  static var isRecording: Bool {
    get { count.load(ordering: .relaxed) != 0 }
  }

  /// Whether an object of this thread is being made to be looked at: its properties have no slots.
  static var isLooking: Bool { isRecording && current != nil }

  /// - Returns: what the properties of an object that `make` makes have declared, in the order in
  ///   which they were made: those of a class before those of its superclass. The properties
  ///   themselves hold ``SlotCache/mark``.
  static func record<Object>(_ make: () throws -> Object) rethrows -> (
    Object, [PropertyDeclaration]
  ) {
    let recorder = DeclarationRecorder()
    count.add(1, ordering: .relaxed)
    defer { count.subtract(1, ordering: .relaxed) }
    let object = try $current.withValue(recorder) { try make() }
    return (object, recorder.declarations)
  }

  private static func record(
    _ kind: PropertyDeclaration.Kind,
    default value: (@Sendable () throws -> AttributeValue?)? = nil
  ) -> UInt8 {
    guard let current else { return SlotCache.unknown }
    current.declarations.append(PropertyDeclaration(kind: kind, defaultValue: value))
    return SlotCache.mark
  }

  @usableFromInline
  static func recordAttribute<Value>(
    _ options: AttributeOptions, range: (any AttributeLimits)?,
    length: (any AttributeLimits<Int>)?, pattern: String?, derivedFrom expression: String?,
    transformer: String?, renamedFrom formerName: String?, versionHashModifier: String?,
    default value: (@Sendable () -> Value)?
  ) -> UInt8 {
    var attribute = AttributeDescription(
      "", .undefined, transient: options.contains(.transient), range: range, length: length,
      pattern: pattern, derivedFrom: expression, transformer: transformer,
      storedExternally: options.contains(.external), renamedFrom: formerName,
      versionHashModifier: versionHashModifier)
    attribute.preservesValueInHistoryOnDeletion = options.contains(.keptInHistory)
    guard let value else { return record(.attribute(attribute, options)) }
    return record(.attribute(attribute, options)) { try AttributeValue(declared: value()) }
  }

  @usableFromInline
  static func recordRelationship<Destination, Back>(
    inverse: KeyPath<Destination, Back> & Sendable, deleteRule: DeleteRule,
    count: ClosedRange<Int>, transient: Bool, renamedFrom formerName: String?,
    versionHashModifier: String?
  ) -> UInt8 {
    let path = InversePath { destination, model, classes in
      try PropertyProbe.names(of: inverse, from: destination, in: model, classes)
    }
    return recordRelationship(
      .path(path), deleteRule, count, transient, formerName, versionHashModifier)
  }

  @usableFromInline
  static func recordRelationship(
    inverse: InverseName, deleteRule: DeleteRule, count: ClosedRange<Int>, transient: Bool,
    renamedFrom formerName: String?, versionHashModifier: String?
  ) -> UInt8 {
    let inverse: PropertyDeclaration.Inverse =
      switch inverse.kind {
      case .none: .none
      case .unsaid: .unsaid
      case .named(let name): .named(name)
      }
    return recordRelationship(
      inverse, deleteRule, count, transient, formerName, versionHashModifier)
  }

  private static func recordRelationship(
    _ inverse: PropertyDeclaration.Inverse, _ deleteRule: DeleteRule, _ count: ClosedRange<Int>,
    _ transient: Bool, _ formerName: String?, _ versionHashModifier: String?
  ) -> UInt8 {
    record(
      .relationship(
        RelationshipDescription(
          "", toMany: "", count: count, deleteRule: deleteRule, transient: transient,
          renamedFrom: formerName, versionHashModifier: versionHashModifier), inverse))
  }
}

extension AttributeValue {
  /// The value that a default value of a typed property is; `nil` for none.
  fileprivate init?<Value>(declared value: Value) throws {
    func transformed<Transformable: TransformableValue>(_ value: Transformable) throws -> Self {
      .transformed(try CodableTransformer<Transformable>().transformedValue(value))
    }
    switch flattened(value) {
    case let value as any ManagedAttribute: self = value.attributeValue
    case let value as URL: self = .uri(value)
    case let value as any TransformableValue: self = try transformed(value)
    default: return nil
    }
  }
}
