import QuireModel

/// The order of a few rows of one entity by attributes that are in them. ``MatchList`` sorts
/// everything else: it compares as this does.
struct RowOrder {
  private struct Key {
    let descriptor: FetchSortDescriptor
    let rule: SortPrefix.Rule
    /// Where the attribute is in the bytes of a row, and its number among the row's fields.
    let field: FieldTable.Field
    let number: Int
  }

  private let keys: [Key]
  private let layout: RowLayout

  /// - Returns: `nil` if a key is no number, date or text of the entity's own rows. Whether that is
  ///   an error is left to a plan.
  init?(_ descriptors: [FetchSortDescriptor], _ storage: EntityStorage) {
    var keys: [Key] = []
    for descriptor in descriptors {
      guard descriptor.keyPath.count == 1,
        let slot = storage.binding.slot(named: descriptor.keyPath[0]),
        storage.fieldBySlot[slot] >= 0
      else { return nil }
      let field = storage.table.fields[slot]
      switch FieldKind(rawValue: field.kind) {
      case .double, .float, .date, .boolean, .integer16, .integer32, .integer64, .string: break
      default: return nil
      }
      keys.append(
        Key(
          descriptor: descriptor, rule: SortPrefix.Rule(descriptor), field: field,
          number: storage.fieldBySlot[slot]))
    }
    self.keys = keys
    layout = storage.layout
  }

  /// The rows in order.
  ///
  /// - Parameter rows: in the order of their references, which decides between equal ones.
  /// - Complexity: O(*n* log *n*), where a comparison seldom decodes a value.
  func sorted<Found>(_ rows: [Found], _ bytes: (Found) -> RowBytes) throws -> [Found] {
    guard rows.count > 1, let first = keys.first else { return rows }
    var items: [(prefix: SortPrefix, index: Int)] = []
    items.reserveCapacity(rows.count)
    for index in rows.indices {
      let row = bytes(rows[index])
      let prefix =
        try first.field.sortPrefix(in: row.start, by: first.rule)
        ?? SortPrefix(value(first, row), by: first.rule)
      items.append((prefix, index))
    }
    try items.sort { left, right in
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      for (number, key) in keys.enumerated() {
        if number == 0, left.prefix.isExact, right.prefix.isExact { continue }
        let order = key.descriptor.compare(
          try value(key, bytes(rows[left.index])), try value(key, bytes(rows[right.index])))
        if order != 0 { return order < 0 }
      }
      return left.index < right.index
    }
    return items.map { rows[$0.index] }
  }

  private func value(_ key: Key, _ row: RowBytes) throws -> PredicateValue? {
    try Row(row, layout).value(key.number).map(PredicateValue.value)
  }
}
