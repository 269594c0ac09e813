#if os(Linux)
  import QuireStorage
  import Testing

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  @Suite(.serialized) struct HeapRoomTests {
    /// The bytes of memory this process has, as the kernel counts them.
    private func residentByteCount() throws -> Int {
      let text = String(
        decoding: try Data(contentsOf: URL(filePath: "/proc/self/statm")), as: UTF8.self)
      return try #require(Int(text.split(separator: " ")[1])) * 4096
    }

    @Test func `room that is made takes no memory until it is used`() throws {
      var growth = 0
      // Other tests run meanwhile and need memory too: one of a few rounds has to be quiet.
      for _ in 0..<5 {
        let before = try residentByteCount()
        HeapRoom.prepare(byteCount: 24 << 20)
        growth = try residentByteCount() - before
        // The allocator writes before and behind a block, which is a large page each.
        if growth <= 3 * (2 << 20) { return }
      }
      Issue.record("\(growth) bytes of memory for nothing")
    }

    @Test(arguments: [Int.min, -1, 0, 1, 4095, (4 << 20) - 1, 4 << 20, 100 << 20, Int.max])
    func `any number of bytes may be asked for`(_ byteCount: Int) {
      for _ in 0..<3 { HeapRoom.prepare(byteCount: byteCount) }
      // The heap is whole.
      var blocks = (0..<1000).map { [UInt8](repeating: UInt8($0 & 255), count: 72 + $0) }
      #expect(
        blocks.enumerated().allSatisfy { place, block in
          block.allSatisfy { $0 == UInt8(place & 255) }
        })
      blocks = []
    }
  }
#endif
