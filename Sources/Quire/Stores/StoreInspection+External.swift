import QuireStorage

/// Checks the values outside of rows while rows are inspected.
struct ExternalDataInspection {
  private let values: RecordTree?
  private var owners: [Int64: String] = [:]

  init(_ snapshot: Snapshot) throws { values = try snapshot.recordTree(ExternalValue.tree) }

  /// - Returns: the error in the value that a row refers to; `nil` if there is none.
  mutating func finding(_ value: ExternalValue, _ subject: String) throws -> String? {
    if let other = owners.updateValue(subject, forKey: value.number) {
      return "\(subject) has the value number \(value.number), which \(other) has, too"
    }
    guard let found = try values?.value(for: value.number) else {
      return "\(subject) has the value number \(value.number), which does not exist"
    }
    let count = found.withBytes { $0.count }
    guard count == value.byteCount else {
      return "\(subject) has a value of \(value.byteCount) bytes, which has \(count)"
    }
    return nil
  }

  /// - Returns: the values that no row refers to.
  func findings() throws -> [String] {
    var findings: [String] = []
    guard let values else { return findings }
    var cursor = values.cursor()
    var isInside = try cursor.first()
    while isInside {
      let number = try cursor.key
      if owners[number] == nil {
        findings.append("the value number \(number) outside of rows belongs to nothing")
      }
      isInside = try cursor.next()
    }
    return findings
  }
}
