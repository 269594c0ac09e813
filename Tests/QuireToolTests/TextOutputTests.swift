import Foundation
import QuireTool
import Testing

@Suite struct TextOutputTests {
  @Test func `when nobody reads any more, a dump stops and all is well`() throws {
    var deliveries = 0
    let output = TextOutput { _ in
      deliveries += 1
      return .nobodyReads
    }
    let code = Tool.run(
      arguments: ["dump", Fixtures.store("Gallery 1.4")], output: output,
      errors: TextOutput { _ in .delivered })
    #expect(code == .good)
    #expect(deliveries == 1)
  }

  @Test func `when nobody reads any more, a check still says what it found`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.4")
    try folder.damage(store) { $0[60_000] ^= 0xFF }
    let code = Tool.run(
      arguments: ["check", store], output: TextOutput { _ in .nobodyReads },
      errors: TextOutput { _ in .delivered })
    #expect(code == .bad)
  }

  @Test func `output that cannot be written is an error`() throws {
    var complaint = ""
    let code = Tool.run(
      arguments: ["--version"], output: TextOutput { _ in .failed("No space left on device") },
      errors: TextOutput {
        complaint += String(decoding: $0, as: UTF8.self)
        return .delivered
      })
    #expect(code == .bad)
    #expect(complaint == "quire: the output could not be written: No space left on device\n")
  }

  @Test func `a long text is delivered in blocks, whole`() throws {
    var blocks: [[UInt8]] = []
    let output = TextOutput {
      blocks.append($0)
      return .delivered
    }
    let line = String(repeating: "é", count: 999) + "\n"
    for _ in 0..<200 { output.write(line) }
    output.flush()
    #expect(blocks.count > 3)
    #expect(
      String(decoding: blocks.joined(), as: UTF8.self) == String(repeating: line, count: 200))
  }
}
