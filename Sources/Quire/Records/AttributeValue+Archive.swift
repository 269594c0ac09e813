import QuireModel

extension AttributeValue {
  /// The value as bytes that include its type.
  func archived() -> [UInt8] {
    var bytes: [UInt8] = []
    ModelArchive.append(self, to: &bytes)
    return bytes
  }

  /// Decodes the bytes of ``archived()``; `nil` if they encode an absent value.
  init?(archived bytes: UnsafeRawBufferPointer) throws(ModelArchiveError) {
    var offset = 0
    guard let value = try ModelArchive.decodeValue(bytes, at: &offset) else { return nil }
    self = value
  }
}
