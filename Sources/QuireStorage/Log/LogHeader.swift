/// What the header of a log says.
struct LogHeader {
  let version: FormatVersion
  let pageSize: Int
  let epoch: UInt64
  /// The length of the file that was on disk before a meta page demanded the log; 0 if unknown.
  let leastByteCount: Int
  /// See ``LogPosition/isSealed``.
  let isSealed: Bool?

  /// Returns `nil` if it is not the header of a log of the store whose checksum it is.
  init?(_ window: LogWindow, fileByteCount: Int, _ checksum: Checksum) throws(StorageError) {
    typealias Header = LogFormat.Header
    guard fileByteCount >= LogFormat.recordsStart,
      let header = try window.bytes(at: 0, count: Header.wholeByteCount)
    else { return nil }
    func isRight(at offset: Int) -> Bool {
      let checked = UnsafeRawBufferPointer(start: header, count: offset)
      return header.u64(at: offset) == checksum.ofLog(checked, epoch: 0)
    }
    version = FormatVersion(
      major: UInt16(header.u16(at: Header.major)), minor: UInt16(header.u16(at: Header.minor)))
    pageSize = Int(header.u32(at: Header.pageSize))
    epoch = header.u64(at: Header.epoch)
    // The checksum is seeded with the identity, so the identity itself need not be compared.
    guard header.u64(at: Header.magic) == LogFormat.fileMagic, isRight(at: Header.checksum) else {
      return nil
    }
    let isOfFormat1 = version.major == LogFormat.oldestMajor
    let isWhole =
      !(isOfFormat1 && version.minor < 1) && isRight(at: Header.wholeChecksum(version))
    leastByteCount = isWhole ? Int(clamping: header.u64(at: Header.fileByteCount)) : 0
    isSealed =
      isWhole && !isOfFormat1 ? header.u64(at: Header.flags) & Header.isSealed != 0 : nil
  }
}
