/// The kind of value that an expression has, as far as it is known before evaluation.
package indirect enum ExpressionType: Hashable, Sendable {
  /// The kind depends on the value, as with the result of an application's own function or of a
  /// transformer.
  case unknown
  /// There is no value: `nil`.
  case absent
  /// Of any type, Booleans among them.
  case number
  case text
  case date
  case data
  case uuid
  case url
  case composite
  /// A value that is kept as data, such as a list, and has no transformer that a fetch knows: it
  /// sees only whether there is one, and whether its data equal others.
  case transformed
  /// The name of its entity, if that is known.
  case object(entity: String?)
  case collection(ExpressionType)

  package init(_ type: AttributeType) {
    self =
      switch type {
      case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: .number
      case .string: .text
      case .date: .date
      case .binaryData: .data
      case .uuid: .uuid
      case .uri, .objectID: .url
      case .composite: .composite
      case .undefined, .transformable: .unknown
      }
  }

  package init(_ value: AttributeValue) {
    self =
      switch value {
      case .boolean, .integer, .double, .float, .decimal: .number
      case .string: .text
      case .date: .date
      case .binary: .data
      case .uuid: .uuid
      case .uri, .objectID: .url
      case .composite: .composite
      case .transformed: .transformed
      }
  }

  package init(_ value: PredicateValue?) {
    switch value {
    case nil: self = .absent
    case .value(let value)?: self = ExpressionType(value)
    case .object?: self = .object(entity: nil)
    case .collection(let members)?:
      self = .collection(.common(members.lazy.map { ExpressionType($0) }))
    }
  }

  /// The type that all have, absent ones aside.
  static func common(_ types: some Sequence<ExpressionType>) -> ExpressionType {
    var common = ExpressionType.absent
    for type in types where type != .absent {
      if common == .absent { common = type }
      if common != type { return .unknown }
    }
    return common
  }

  /// The type of the members of a collection; the type itself for any other value.
  var element: ExpressionType {
    if case .collection(let element) = self { element } else { self }
  }

  package var isCollection: Bool { if case .collection = self { true } else { false } }

  /// Whether a value of this type may equal one of the other.
  package func mayEqual(_ other: ExpressionType) -> Bool {
    switch (self, other) {
    case (.unknown, _), (_, .unknown), (.absent, _), (_, .absent), (.object, .object): true
    case (.transformed, .data), (.data, .transformed): true
    case (.collection(let left), .collection(let right)): left.mayEqual(right)
    default: self == other
    }
  }

  /// Whether one value of the type may be greater than another.
  var hasOrder: Bool {
    switch self {
    case .composite, .transformed, .collection: false
    // Some identities have one.
    case .object(let entity): entity == nil
    case .unknown, .absent, .number, .text, .date, .data, .uuid, .url: true
    }
  }

  func may(be type: ExpressionType) -> Bool {
    self == type || self == .unknown || self == .absent
  }
}

extension ExpressionType: CustomStringConvertible {
  /// The type with its article: what a value of it is.
  package var description: String {
    switch self {
    case .unknown: "a value"
    case .absent: "nil"
    case .number: "a number"
    case .text: "a text"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .composite: "a composite value"
    case .transformed: "a value that is kept as data"
    case .object(let entity): entity.map { "an object of \($0)" } ?? "an object"
    case .collection(.object(let entity?)): "a collection of objects of \(entity)"
    case .collection(let element): "a collection of \(element.plural)"
    }
  }

  private var plural: String {
    switch self {
    case .unknown, .absent: "values"
    case .number: "numbers"
    case .text: "texts"
    case .date: "dates"
    case .data: "data"
    case .uuid: "UUIDs"
    case .url: "URLs"
    case .composite: "composite values"
    case .transformed: "values that are kept as data"
    case .object: "objects"
    case .collection: "collections"
    }
  }
}
