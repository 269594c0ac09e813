// The meaning of each byte of a page or a log: the tables of `docs/file-format.md` as values. The
// document's worked example and `quire dump --page` print them beside the bytes.

/// Some bytes with a meaning.
package struct BytePart: Sendable {
  package let offset: Int
  package let byteCount: Int
  package let meaning: String

  init(_ offset: Int, _ byteCount: Int, _ meaning: String) {
    self.offset = offset
    self.byteCount = byteCount
    self.meaning = meaning
  }
}

extension IdentityPage {
  static func parts(of version: FormatVersion) -> [BytePart] {
    var parts = [
      BytePart(0, 16, "what this file is"), BytePart(majorOffset, 2, "format, major"),
      BytePart(minorOffset, 2, "format, minor"), BytePart(pageSizeOffset, 4, "page size"),
      BytePart(identityOffset, 16, "identity"),
    ]
    if version.major != FormatVersion.first.major {
      parts += [
        BytePart(flagsOffset, 4, "flags"), BytePart(tailOffset, 2, "bytes at the end of pages"),
        BytePart(46, 2, "zeros"), BytePart(cipherOffset, 16, "cipher"),
        BytePart(keyOffset, 16, "key"), BytePart(keyCheckOffset, 16, "check of the key"),
      ]
    }
    parts.append(BytePart(checksumOffset(version), 8, "checksum"))
    return parts
  }
}

extension MetaPage {
  static func parts(of version: FormatVersion) -> [BytePart] {
    let parts = [
      BytePart(0, 8, "checksum"), BytePart(sequenceOffset, 8, "sequence"),
      BytePart(epochOffset, 8, "epoch of the log"), BytePart(commitOffset, 8, "last commit"),
      BytePart(pageCountOffset, 4, "pages"), BytePart(flagsOffset, 4, "flags"),
      BytePart(logOffsetOffset, 8, "where the log goes on"),
      BytePart(logChainOffset, 8, "checksum before that record"),
      BytePart(freePageCountOffset, 4, "free pages"), BytePart(60, 4, "zeros"),
      BytePart(mapCommitOffset, 8, "commit of the first map"),
    ]
    if version.major == FormatVersion.first.major { return parts }
    let copy = IdentityPage.checksumOffset(version) + 8
    return parts + [BytePart(identityCopyOffset, copy, "page 0 once more")]
  }
}

extension PageHeader {
  /// - Parameter isFromLog: a log has no checksums of pages.
  static func parts(isFromLog: Bool, of page: Page) -> [BytePart] {
    let type = PageType(rawValue: page.typeByte)
    return [
      BytePart(checksum, 8, isFromLog ? "checksum (none in a log)" : "checksum"),
      BytePart(commit, 8, "commit"), BytePart(self.type, 1, "type: \(type?.text ?? "unknown")"),
      BytePart(level, 1, "level"),
      BytePart(count, 2, type == .overflow ? "bytes of the value" : "entries"),
      BytePart(cellStart, 2, "where the cells begin"), BytePart(freeBytes, 2, "free bytes"),
    ]
  }
}

extension PageMap {
  static func parts(_ geometry: PageGeometry, of map: PageID, in page: Page) -> [BytePart] {
    let first = map.rawValue - PageID.firstMap.rawValue
    // Pages with the same stamp in a row are one part: most of a map is like its neighbour.
    var parts: [BytePart] = []
    var index = 0
    while index < geometry.mapEntryCount {
      let stamp = entry(index, in: page)
      let isChild = index >= Int(geometry.groupPageCount)
      let limit = isChild ? geometry.mapEntryCount : Int(geometry.groupPageCount)
      var end = index + 1
      while end < limit, entry(end, in: page) == stamp { end += 1 }
      let noun = isChild ? "maps below" : "pages"
      let base = isChild ? 1 - Int(geometry.groupPageCount) : Int(first)
      let range = end - index == 1 ? "\(base + index)" : "\(base + index) to \(base + end - 1)"
      let text = stamp == 0 ? (isChild ? "none" : "free") : "stamp \(stamp & 0x7FFF_FFFF)"
      parts.append(
        BytePart(
          PageHeader.byteCount + index * entryByteCount, (end - index) * entryByteCount,
          "\(noun) \(range): \(text)"))
      index = end
    }
    return parts
  }
}

extension IndexLayout {
  /// The parts before the cells.
  static func parts(of node: Page) -> [BytePart] {
    let prefix = prefixByteCount(of: node)
    let heads = headsStart(prefix: prefix)
    let offsets = heads + node.count * headByteCount
    var parts = [BytePart(prefixLengthOffset, 2, "length of the prefix")]
    if heads > prefixStart {
      parts.append(BytePart(prefixStart, heads - prefixStart, "prefix, and zeros up to the heads"))
    }
    parts.append(BytePart(heads, node.count * headByteCount, "heads"))
    parts.append(BytePart(offsets, node.count * offsetByteCount, "offsets of the cells"))
    return parts
  }
}

extension LogAnatomy {
  /// The log's header.
  package var headerParts: [BytePart] {
    typealias Header = LogFormat.Header
    var parts = [
      BytePart(Header.magic, 8, "what this file is"), BytePart(Header.major, 2, "format, major"),
      BytePart(Header.minor, 2, "format, minor"), BytePart(Header.pageSize, 4, "page size"),
      BytePart(Header.identity, 16, "identity"), BytePart(Header.epoch, 8, "epoch"),
      BytePart(Header.checksum, 8, "checksum"),
      BytePart(Header.fileByteCount, 8, "length of the log, at least"),
    ]
    if version.major > LogFormat.oldestMajor { parts.append(BytePart(Header.flags, 8, "flags")) }
    parts.append(BytePart(Header.wholeChecksum(version), 8, "checksum of all before it"))
    return parts
  }

  /// A record that is whole: header, entries, checksum.
  package func parts(of record: Record) -> [BytePart] {
    typealias Format = LogFormat.Record
    let start = record.offset
    var parts = [
      BytePart(start + Format.magic, 8, "a record"), BytePart(start + Format.epoch, 8, "epoch"),
      BytePart(start + Format.commit, 8, "commit"),
      BytePart(start + Format.previous, 8, "checksum of the record before"),
      BytePart(start + Format.byteCount, 8, "length"),
      BytePart(start + Format.durableThrough, 8, "durable through commit"),
      BytePart(start + Format.pageEntryCount, 4, "pages in it"),
      BytePart(start + Format.pageCount, 4, "pages of the store"),
      BytePart(start + Format.freePageCount, 4, "free pages"),
      BytePart(start + Format.headerCheck, 4, isOf11 ? "check of the header" : "zeros"),
    ]
    for page in record.pages {
      parts.append(BytePart(page.offset, 4, "page \(page.id)"))
      parts.append(
        BytePart(page.offset + 4, 2, page.isWhole ? "flags: a page of zeros, then" : "flags"))
      parts.append(BytePart(page.offset + 6, 2, "ranges"))
      parts.append(
        BytePart(
          page.offset + PageDifference.Format.base, 4,
          page.isWhole ? "zeros" : "stamp of the page that changes"))
      let ranges = page.offset + PageDifference.Format.headerByteCount
      for (index, range) in page.ranges.enumerated() {
        parts.append(
          BytePart(ranges + index * 4, 4, "\(range.lowerBound), \(range.count) bytes"))
      }
      var offset = ranges + page.ranges.count * 4
      for range in page.ranges {
        parts.append(
          BytePart(offset, range.count, "bytes \(range.lowerBound) ..< \(range.upperBound)"))
        offset += range.count
      }
    }
    let end = start + record.byteCount - trailerByteCount
    if isOf11 {
      typealias Voucher = LogFormat.Voucher
      let voucher = end - Voucher.byteCount
      parts += [
        BytePart(voucher + Voucher.magic, 8, "a voucher"),
        BytePart(voucher + Voucher.durableThrough, 8, "durable through commit"),
        BytePart(voucher + Voucher.fileByteCount, 8, "length of the log, at least"),
        BytePart(voucher + Voucher.check, 8, "check of the voucher"),
      ]
    }
    parts.append(BytePart(end, 8, "checksum"))
    if trailerByteCount > Format.checksumByteCount {
      parts.append(BytePart(end + Format.checksumByteCount, 8, "seal: it is on disk"))
    }
    return parts
  }

  /// Bytes of the log's file.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    let range = range.clamped(to: 0..<byteCount)
    return bytes.withArray(range)
  }
}

extension PageMemory {
  fileprivate func withArray(_ range: Range<Int>) -> [UInt8] {
    defer { withExtendedLifetime(self) {} }
    return [UInt8](UnsafeRawBufferPointer(rebasing: bytes[range]))
  }
}
