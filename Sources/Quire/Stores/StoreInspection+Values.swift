import QuireModel

extension StoreInspection {
  /// Checks that a decoded value is one that the model's attribute can have.
  mutating func inspectValue(
    _ value: AttributeValue, _ row: RowReader, _ field: Int, _ storage: EntityStorage,
    _ subject: String
  ) {
    let name = storage.layout.fields[field].name
    switch value {
    case .string:
      if String(validating: row.variable(field), as: UTF8.self) == nil {
        findings.append("\(subject).\(name) is a text that is not UTF-8")
      }
    case .composite(let values):
      guard let attribute = storage.binding.entity.attribute(named: name) else { return }
      if let path = StoreInspection.misfit(values, attribute.elements, name) {
        findings.append("\(subject).\(path) is not what the model says of that element")
      }
    // What could be read of these is a value of theirs.
    case .boolean, .integer, .double, .float, .decimal, .date, .binary, .uuid, .uri, .transformed,
      .objectID:
      break
    }
  }

  /// The path of an element that the model does not have, or whose value has another type; `nil` if
  /// all are valid.
  private static func misfit(
    _ values: [String: AttributeValue], _ elements: [AttributeDescription], _ path: String
  ) -> String? {
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      let path = "\(path).\(name)"
      guard let element = elements.first(where: { $0.name == name }), value.isOf(element.type)
      else {
        return path
      }
      if case .composite(let values) = value,
        let inner = misfit(values, element.elements, path)
      {
        return inner
      }
    }
    return nil
  }
}
