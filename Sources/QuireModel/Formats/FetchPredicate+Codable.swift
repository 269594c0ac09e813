/// A predicate is encoded as its format, in readable text, together with the objects that it
/// compares with.
///
/// The decoded predicate equals the encoded one, with the exceptions of ``description``, and has
/// the same meaning in any case. Objects are encoded as they encode themselves: managed objects as
/// the URIs of their IDs, which need a coordinator in the decoder's `userInfo`. Others cannot be
/// encoded.
///
/// Decoding data that is no encoded predicate, or is nested too deep, throws a `DecodingError`.
extension FetchPredicate: Codable {
  public func encode(to encoder: any Encoder) throws {
    try checkDepth()
    try FormatCoding.encode(to: encoder) { form in
      replacingLeaves { leaf, _ in form(leaf) }.description
    }
  }

  public init(from decoder: any Decoder) throws {
    self = try FormatCoding.decode(from: decoder) { format, object in
      try FetchPredicate(format: format).replacingLeaves(object)
    }
  }
}

/// An expression is encoded like a predicate.
extension FetchExpression: Codable {
  public func encode(to encoder: any Encoder) throws {
    try checkDepth()
    try FormatCoding.encode(to: encoder) { form in
      replacingLeaves { leaf, _ in form(leaf) }.description
    }
  }

  public init(from decoder: any Decoder) throws {
    self = try FormatCoding.decode(from: decoder) { format, object in
      try FetchExpression(format: format).replacingLeaves([], object)
    }
  }
}

/// A reader of the objects in predicates, found in a decoder's `userInfo`.
package protocol ObjectIdentityDecoding {
  func identity(from decoder: any Decoder) throws -> OpaqueIdentity
}

/// A format, and the objects that its variables represent.
private struct FormatCoding {
  let format: String
  private var objects: [OpaqueIdentity] = []

  private enum CodingKeys: String, CodingKey {
    case format
    case objects
  }

  /// No name of a variable that a program gives.
  private static func variable(_ number: Int) -> String { "object \(number)" }

  // MARK: Encoding

  /// - Parameter format: makes the format, with what is given for each leaf in its place.
  static func encode(
    to encoder: any Encoder, _ format: ((FetchExpression) -> FetchExpression?) -> String
  ) throws {
    var objects: [OpaqueIdentity] = []
    try encode(format { form(of: $0, &objects) }, objects, to: encoder)
  }

  /// - Returns: `nil` for a leaf that has a literal.
  private static func form(
    of leaf: FetchExpression, _ objects: inout [OpaqueIdentity]
  ) -> FetchExpression? {
    guard case .constant(let value?) = leaf, value.hasObjects else { return nil }
    return form(of: value, &objects)
  }

  private static func form(
    of value: PredicateValue?, _ objects: inout [OpaqueIdentity]
  ) -> FetchExpression {
    switch value {
    case .object(let identity)?:
      objects.append(identity)
      return .variable(variable(objects.count))
    case .collection(let members)?:
      var list: [FetchExpression] = []
      for member in members { list.append(form(of: member, &objects)) }
      return .aggregate(list)
    default: return .constant(value)
    }
  }

  private static func encode(
    _ format: String, _ objects: [OpaqueIdentity], to encoder: any Encoder
  ) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(format, forKey: .format)
    if objects.isEmpty { return }
    var list = container.nestedUnkeyedContainer(forKey: .objects)
    for object in objects {
      guard let base = object.base as? any Encodable else {
        throw EncodingError.invalidValue(
          object,
          .init(
            codingPath: list.codingPath,
            debugDescription: "the object \(object) cannot be encoded: it has no form of its own"))
      }
      try base.encode(to: list.superEncoder())
    }
  }

  // MARK: Decoding

  /// - Parameter read: reads a format, with what is given for each leaf in its place.
  static func decode<Value>(
    from decoder: any Decoder,
    _ read: (String, (FetchExpression, Set<String>) throws -> FetchExpression?) throws -> Value
  ) throws -> Value {
    let coding = try FormatCoding(from: decoder)
    do {
      return try read(coding.format) { leaf, bound in coding.object(for: leaf, bound) }
    } catch let error as PredicateFormatError {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath + [CodingKeys.format],
          debugDescription: error.description, underlyingError: error))
    }
  }

  private init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    format = try container.decode(String.self, forKey: .format)
    guard container.contains(.objects) else { return }
    var list = try container.nestedUnkeyedContainer(forKey: .objects)
    let reader = decoder.userInfo.values.lazy.compactMap { $0 as? any ObjectIdentityDecoding }.first
    while !list.isAtEnd {
      guard let reader else {
        throw DecodingError.dataCorruptedError(
          in: list,
          debugDescription: "a predicate with objects is decoded with a coordinator: set "
            + "persistentStoreCoordinator in the decoder's userInfo")
      }
      objects.append(try reader.identity(from: list.superDecoder()))
    }
  }

  private func object(
    for leaf: FetchExpression, _ bound: Set<String>
  ) -> FetchExpression? {
    let (name, path): (String, [String])
    switch leaf {
    case .variable(let variable): (name, path) = (variable, [])
    case .path(.variable(let variable), let names): (name, path) = (variable, names)
    default: return nil
    }
    guard !bound.contains(name),
      let number = objects.indices.first(where: { Self.variable($0 + 1) == name })
    else { return nil }
    let object = FetchExpression.constant(.object(objects[number]))
    return path.isEmpty ? object : .path(object, path)
  }
}

extension PredicateValue {
  fileprivate var hasObjects: Bool {
    switch self {
    case .value: false
    case .object: true
    case .collection(let members): members.contains { $0?.hasObjects ?? false }
    }
  }
}
