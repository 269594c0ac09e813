/// A whole model as bytes: every fact of every declaration.
///
/// A store keeps the archive of its model, so that it can be opened and migrated when the source of
/// that version no longer exists. Equal declarations give equal bytes, whatever the order of
/// dictionaries. `docs/decisions/0013-model-archives.md` explains why Quire has a format of its
/// own.
package enum ModelArchive {
  /// Appends a value to `bytes`, preceded by its type.
  ///
  /// - Complexity: O(*n*) in the size of the value.
  package static func append(_ value: AttributeValue?, to bytes: inout [UInt8]) {
    var writer = ModelArchiveWriter()
    swap(&writer.bytes, &bytes)
    writer.write(value)
    swap(&writer.bytes, &bytes)
  }

  /// The value that ``append(_:to:)`` wrote at `offset`, which is then after it.
  ///
  /// Composites nested more than 64 deep are refused.
  package static func decodeValue(
    _ bytes: UnsafeRawBufferPointer, at offset: inout Int
  ) throws(ModelArchiveError) -> AttributeValue? {
    var reader = ModelArchiveReader(bytes, offset: offset)
    let value = try reader.readValue()
    offset = reader.offset
    return value
  }
}

/// Why bytes are not the archive of a model.
package enum ModelArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes do not begin like an archive.
  case notAnArchive
  /// The archive was made by a later release.
  case newerFormat(found: Int, supported: Int)
  /// The bytes are damaged, or end too early.
  case damaged(offset: Int, reason: String)
  /// The bytes are sound, but what they say is not a model.
  case invalidModel(ModelError)

  package var description: String {
    switch self {
    case .notAnArchive: "these bytes are not the archive of a model"
    case .newerFormat(let found, let supported):
      "the model was archived in format \(found), and this release reads formats up to "
        + "\(supported): use the release that wrote it, or a later one"
    case .damaged(let offset, let reason):
      "the archive of the model is damaged at byte \(offset): \(reason)"
    case .invalidModel(let error): "the archived model is not one: \(error)"
    }
  }
}
