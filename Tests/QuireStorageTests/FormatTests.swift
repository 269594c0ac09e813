import QuireStorage
import Testing

/// The format's worked example, and what is promised about sizes.
@Suite struct `The file format` {
  @Test func `the documented example is what is written`() throws {
    let fileSystem = MemoryFileSystem()
    var options = PageStoreOptions()
    options.identity = StoreIdentity(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    try PageStore.open("store", options: options, in: fileSystem).close()
    let bytes = try #require(fileSystem.bytes(of: "store"))
    #expect(try documentedExample() == [UInt8](bytes[..<48]))
    #expect(bytes.count <= 32 << 10)
  }

  /// The bytes between the lines "```hex" and "```" in `docs/file-format.md`.
  private func documentedExample() throws -> [UInt8] {
    var folder = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    folder.removeLast(3)
    let path = (folder + ["docs", "file-format.md"]).joined(separator: "/")
    let file = try DiskFileSystem().open(path, .read)
    let count = try file.byteCount()
    let text = try String(unsafeUninitializedCapacity: count) {
      try file.read(at: 0, into: UnsafeMutableRawBufferPointer($0))
    }
    let block = try #require(text.split(separator: "```hex\n").dropFirst().first)
    let hex = try #require(block.split(separator: "```").first)
    return hex.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
  }
}
