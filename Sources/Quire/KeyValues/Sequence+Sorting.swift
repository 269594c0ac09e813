import QuireModel

extension Sequence where Element: KeyValueCoding {
  /// The objects in the order of sort descriptors, which is that of a fetch with them. The sort is
  /// stable.
  ///
  /// ```swift
  /// let byTitle = FetchSortDescriptor(key: "title", options: .natural)
  /// let works = try artist.works.sorted(using: byTitle)
  /// ```
  ///
  /// - Throws: what ``KeyValueCoding/value(forKeyPath:)`` throws for a key;
  ///   ``PersistenceError/Code/invalidExpression`` for a key with many values, or with a value that
  ///   predicates cannot compare.
  /// - Complexity: O(*n* log *n*); each key of an object is read once.
  public func sorted(using descriptors: [FetchSortDescriptor]) throws -> [Element] {
    let items = try map { object in
      (
        object: object,
        keys: try descriptors.map { descriptor in
          // Many values are refused, however many they are.
          let value = try KeyValue(object).comparedValue(
            at: descriptor.keyPath, ofEachOnce: true)
          if case .collection? = value {
            throw PersistenceError(
              .invalidExpression,
              "the sort key \(descriptor.key) refers to many values, which cannot be sorted: "
                + "sort by one value, such as \(descriptor.key).@count")
          }
          return value
        }
      )
    }
    return items.enumerated().sorted { left, right in
      for (index, descriptor) in descriptors.enumerated() {
        let order = descriptor.compare(left.element.keys[index], right.element.keys[index])
        if order != 0 { return order < 0 }
      }
      return left.offset < right.offset
    }.map(\.element.object)
  }

  /// The objects in the order of one sort descriptor.
  public func sorted(using descriptor: FetchSortDescriptor) throws -> [Element] {
    try sorted(using: [descriptor])
  }
}
