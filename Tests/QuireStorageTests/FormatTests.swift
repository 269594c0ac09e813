import QuireSimulation
import QuireStorage
import Testing

/// The format's worked example, and what is promised about sizes.
@Suite struct `The file format` {
  /// `QUIRE_UPDATE_EXAMPLE=1` writes the example into the document anew, before the first test.
  private static let update = Result {
    guard environmentValue("QUIRE_UPDATE_EXAMPLE") != nil else { return }
    var document = try Document()
    try document.replaceExample(by: try FormatExample().text())
  }

  init() throws { try Self.update.get() }

  @Test func `the documented example is what is written`() throws {
    #expect(try Document().example() == FormatExample().text())
  }

  /// A reader of the document looks at the bytes: they are compared on their own.
  @Test func `the bytes in the document are those of the store and of its log`() throws {
    let example = try FormatExample()
    let blocks = try Document().example().split(separator: "```hex\n").dropFirst().map { block in
      HexListing.bytes(in: block.prefix { $0 != "`" }.split(separator: "\n"))
    }
    let pageCount = example.store.count / 512
    try #require(blocks.count == pageCount + 2)
    #expect(blocks[..<pageCount].flatMap { $0 } == example.store)
    #expect(blocks[pageCount] == [UInt8](example.log[..<4096]))
    let record = blocks[pageCount + 1]
    #expect(record == [UInt8](example.log[4096..<(4096 + record.count)]))
    #expect(example.log.dropFirst(4096 + record.count).allSatisfy { $0 == 0 })
  }

  @Test func `an empty store has at most 32 KB`() throws {
    let fileSystem = MemoryFileSystem()
    try PageStore.open("store", in: fileSystem).close()
    #expect(try #require(fileSystem.bytes(of: "store")).count <= 32 << 10)
  }
}

/// `docs/file-format.md`.
private struct Document {
  private let path: String
  private var text: String

  init() throws {
    var folder = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    folder.removeLast(3)
    path = (folder + ["docs", "file-format.md"]).joined(separator: "/")
    let file = try DiskFileSystem().open(path, .read)
    let count = try file.byteCount()
    text = try String(unsafeUninitializedCapacity: count) {
      try file.read(at: 0, into: UnsafeMutableRawBufferPointer($0))
    }
  }

  private func range() throws -> Range<String.Index> {
    let begin = try #require(text.firstRange(of: FormatExample.begin))
    let end = try #require(text.firstRange(of: FormatExample.end))
    return begin.upperBound..<end.lowerBound
  }

  func example() throws -> String { String(text[try range()]) }

  mutating func replaceExample(by example: String) throws {
    text.replaceSubrange(try range(), with: example)
    let bytes = Array(text.utf8)
    let file = try DiskFileSystem().open(path, .create)
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
  }
}
