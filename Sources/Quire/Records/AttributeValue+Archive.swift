import QuireModel

extension AttributeValue {
  /// The value as bytes that say their own type.
  func archived() -> [UInt8] {
    var bytes: [UInt8] = []
    ModelArchive.append(self, to: &bytes)
    return bytes
  }

  /// Reads what ``archived()`` wrote; `nil` when that was no value.
  init?(archived bytes: UnsafeRawBufferPointer) throws(ModelArchiveError) {
    var offset = 0
    guard let value = try ModelArchive.decodeValue(bytes, at: &offset) else { return nil }
    self = value
  }
}
