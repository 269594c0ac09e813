import Foundation
import Quire
import QuireModel
import Synchronization

#if !canImport(Darwin)
  /// The name under which a transformer is registered.
  public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The text of the name.
    public let rawValue: String
    /// A name of a text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A name of a text.
    public init(_ rawValue: String) { self.rawValue = rawValue }
  }

  /// Turns values of a transformable attribute into `Data`, and back. Foundation has this class on
  /// Apple's platforms alone.
  ///
  /// A model names the transformer of an attribute. It is registered by that name before a
  /// coordinator is made of the model, or its class has the name.
  open class ValueTransformer {
    private static let registered = Mutex<[NSValueTransformerName: Registered]>([:])

    /// Sound: a transformer that is registered is called from any thread, on every platform.
    private struct Registered: @unchecked Sendable {
      let transformer: ValueTransformer
    }

    /// Does the work of a transformer that was made of a name.
    private var named: ValueTransformer?

    /// A transformer, which does nothing unless a class overrides its functions.
    public required init() {}

    /// A transformer that does what the one of a name does; `nil` when there is none.
    public convenience init?(forName name: NSValueTransformerName) {
      guard let found = Self.named(name) else { return nil }
      self.init()
      named = found
    }

    /// The transformer that is registered under a name, or that is of a class of the name.
    public static func named(_ name: NSValueTransformerName) -> ValueTransformer? {
      if let known = registered.withLock({ $0[name] }) { return known.transformer }
      if name == .secureUnarchiveFromDataTransformerName {
        return NSSecureUnarchiveFromDataTransformer()
      }
      return (ClassLookup.type(named: name.rawValue) as? ValueTransformer.Type)?.init()
    }

    /// Registers a transformer under a name.
    public static func setValueTransformer(
      _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
      let entry = transformer.map(Registered.init)
      registered.withLock { $0[name] = entry }
    }

    /// The names under which transformers are registered.
    public static func valueTransformerNames() -> [NSValueTransformerName] {
      registered.withLock { Array($0.keys) }
    }

    /// The class of the results.
    open class func transformedValueClass() -> AnyClass { NSData.self }

    /// Whether values can be turned back.
    open class func allowsReverseTransformation() -> Bool { true }

    /// The `Data` of a value.
    open func transformedValue(_ value: Any?) -> Any? {
      named.map { $0.transformedValue(value) } ?? value
    }

    /// The value of `Data`.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
      named.map { $0.reverseTransformedValue(value) } ?? value
    }
  }
#endif

/// A transformer of Foundation's form as Quire calls it.
struct NamedTransformer: Quire.ValueTransformer {
  let name: String

  /// The transformers of a model's attributes, as far as there are any.
  static func all(of model: ManagedObjectModel) -> ValueTransformers {
    var transformers = ValueTransformers()
    for attribute in model.entities.flatMap(\.attributes) where attribute.type == .transformable {
      guard let name = attribute.valueTransformerName, transformer(name) != nil else { continue }
      transformers[name] = NamedTransformer(name: name)
    }
    return transformers
  }

  /// Whether there is a transformer of a name.
  static func isKnown(_ name: String) -> Bool { transformer(name) != nil }

  private static func transformer(_ name: String) -> ValueTransformer? {
    #if canImport(Darwin)
      return ValueTransformer(forName: NSValueTransformerName(name))
    #else
      return ValueTransformer.named(NSValueTransformerName(name))
    #endif
  }

  func transformedValue(_ value: Any) throws -> Data {
    let transformer = Self.transformer(name)
    let result =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer?.reverseTransformedValue(value) : transformer?.transformedValue(value)
    if let data = result as? Data { return data }
    throw failure("made no Data of \(value)")
  }

  func reverseTransformedValue(_ data: Data) throws -> Any {
    let transformer = Self.transformer(name)
    let result =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer?.transformedValue(data) : transformer?.reverseTransformedValue(data)
    if let result { return result }
    throw failure("made no value of \(data.count) bytes")
  }

  private func failure(_ what: String) -> PersistenceError {
    PersistenceError(.unacceptableValue, "the value transformer \(name) \(what)")
  }
}
