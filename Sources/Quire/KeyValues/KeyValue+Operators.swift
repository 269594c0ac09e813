import QuireModel

// Collection operators; ``CollectionOperator`` documents each of them.
extension KeyValue {
  /// - Parameter rest: the path to the value of each member.
  func applying(
    _ operation: CollectionOperator, to rest: ArraySlice<String>
  ) throws -> KeyValue {
    if isAbsent { return self }
    if operation == .count, case .one(let value?) = self,
      let dictionary = value as? any PlainDictionary
    {
      return .one(dictionary.plainKeys.count)
    }
    guard let members else {
      throw PersistenceError(
        .invalidExpression,
        "\(operation.rawValue) needs a collection before it, but there is "
          + PersistenceError.briefDescription(of: plain as Any))
    }
    if operation == .count {
      guard rest.isEmpty else {
        throw PersistenceError(
          .undefinedKey, "a number has no \(rest.joined(separator: ".")), which follows @count")
      }
      return .one(members.count)
    }
    let values = rest.isEmpty ? members : try members.map { try $0.value(at: rest) }
    switch operation {
    case .count, .unionOfObjects: return .array(values.filter { !$0.isAbsent })
    case .distinctUnionOfObjects: return .array(KeyValue.distinct(values))
    case .unionOfArrays, .unionOfSets:
      return .array(try KeyValue.joined(values, operation).filter { !$0.isAbsent })
    case .distinctUnionOfArrays:
      return .array(KeyValue.distinct(try KeyValue.joined(values, operation)))
    case .distinctUnionOfSets:
      return .set(KeyValue.distinct(try KeyValue.joined(values, operation)))
    case .sum: return try KeyValue.aggregate(.sum, values)
    case .average: return try KeyValue.aggregate(.average, values)
    case .minimum: return try KeyValue.aggregate(.minimum, values)
    case .maximum: return try KeyValue.aggregate(.maximum, values)
    }
  }

  private static func joined(
    _ values: [KeyValue], _ operation: CollectionOperator
  ) throws -> [KeyValue] {
    try values.flatMap { value -> [KeyValue] in
      if value.isAbsent { return [] }
      guard let members = value.members else {
        throw PersistenceError(
          .invalidExpression,
          "\(operation.rawValue) joins collections, but there is "
            + PersistenceError.briefDescription(of: value.plain as Any))
      }
      return members
    }
  }

  private static func aggregate(
    _ function: FetchExpression.Function, _ values: [KeyValue]
  ) throws -> KeyValue {
    guard case .collection(let values)? = try KeyValue.array(values).predicateValue else {
      return .one(nil)
    }
    do {
      return KeyValue(try Computation(function).aggregate(values))
    } catch {
      throw PersistenceError(error)
    }
  }
}

extension PersistenceError {
  init(_ error: FetchPredicateError) {
    self.init(.invalidExpression, error.description, underlying: error)
  }
}
