extension ModelArchive {
  package static func encode(_ model: ManagedObjectModel) -> [UInt8] {
    var writer = ModelArchiveWriter()
    writer.bytes = ModelArchiveFormat.magic
    writer.write(
      ModelArchiveWriter.flags(of: model).isEmpty
        ? ModelArchiveFormat.numberWithoutModelFlags : ModelArchiveFormat.number)
    writer.write(model)
    writer.write(fixed: ModelArchiveFormat.checksum(writer.bytes))
    return writer.bytes
  }

  /// The model of an archive that ``encode(_:)`` made, in this release or an earlier one.
  ///
  /// - Throws: ``ModelArchiveError`` for any other bytes. Memory is used in proportion to them.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws(ModelArchiveError) -> ManagedObjectModel {
    var reader = ModelArchiveReader(bytes)
    for byte in ModelArchiveFormat.magic where try reader.readByte() != byte {
      throw .notAnArchive
    }
    let number = try reader.readNumber(limit: .max)
    if number > ModelArchiveFormat.number {
      throw .newerFormat(found: number, supported: ModelArchiveFormat.number)
    }
    if number == 0 { throw .notAnArchive }
    try reader.checkChecksum()
    let model = try reader.readModel(hasFlags: number > ModelArchiveFormat.numberWithoutModelFlags)
    if !reader.isAtEnd { throw reader.damaged("there are bytes after the end of the model") }
    return model
  }
}
