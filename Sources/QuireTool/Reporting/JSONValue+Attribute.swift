import Foundation
import QuireModel

extension JSONValue {
  /// An attribute's value in a form that loses nothing, given the type in the model.
  ///
  /// Numbers are JSON numbers, whole ones with all 64 bits; those that are not finite, and
  /// decimals, are strings. A date is the number of seconds since 2001-01-01 00:00 UTC, which is
  /// what is stored. Bytes are base64.
  ///
  /// - Parameter isForReading: whether a person reads it, who wants dates by the calendar, and the
  ///   text of values that are kept as JSON.
  package init(_ value: AttributeValue, isForReading: Bool = false) {
    switch value {
    case .boolean(let flag): self.init(flag)
    case .integer(let number): self.init(number)
    case .double(let number): self.init(number)
    case .float(let number): self.init(number)
    case .decimal(let number): self = .string(number.description)
    case .string(let text): self = .string(text)
    case .date(let date):
      self =
        isForReading
        ? MomentText.text(of: date).map { .string($0) }
          ?? JSONValue(date.timeIntervalSinceReferenceDate)
        : JSONValue(date.timeIntervalSinceReferenceDate)
    case .transformed(let data) where isForReading:
      let text = String(validating: data, as: UTF8.self) ?? ""
      let isText = text.utf8.first.map { "[{\"".utf8.contains($0) } ?? false
      self = .string(isText ? text : data.base64EncodedString())
    case .binary(let data), .transformed(let data): self = .string(data.base64EncodedString())
    case .uuid(let uuid): self = .string(uuid.uuidString)
    case .uri(let url), .objectID(let url): self = .string(url.absoluteString)
    case .composite(let values):
      self = .object(
        values.sorted { $0.key < $1.key }.map {
          ($0.key, JSONValue($0.value, isForReading: isForReading))
        })
    }
  }
}
