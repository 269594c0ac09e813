import QuireSimulation
import QuireStorage
import Testing

@Suite("The memory of frames")
struct FrameMemoryTests {
  private typealias Slot = (
    slot: UnsafeMutableRawPointer, slab: FrameMemory.Slab, mark: UInt64
  )

  @Test(arguments: [512, 4096, 32_768])
  func `slots are apart, and memory follows what is in use`(pageSize: Int) {
    let memory = FrameMemory(pageSize: pageSize)
    var random = SeededGenerator(seed: UInt64(pageSize))
    var taken: [Slot] = []
    var mark: UInt64 = 0
    func take() {
      let (slot, slab) = memory.take()
      #expect(Int(bitPattern: slot) % 64 == 0)
      mark += 1
      for offset in stride(from: 0, to: memory.slotByteCount, by: 8) {
        slot.storeBytes(of: mark, toByteOffset: offset, as: UInt64.self)
      }
      taken.append((slot, slab, mark))
    }
    func give(_ index: Int) {
      taken.swapAt(index, taken.count - 1)
      let (slot, slab, mark) = taken.removeLast()
      // Whoever had been given the same bytes would have put another mark there.
      let isWhole = stride(from: 0, to: memory.slotByteCount, by: 8).allSatisfy {
        slot.load(fromByteOffset: $0, as: UInt64.self) == mark
      }
      #expect(isWhole)
      memory.give(slot, of: slab)
    }
    let many = Amount.of(debug: 6 << 20, release: 8 << 20) / memory.slotByteCount
    for _ in 0..<many { take() }
    let most = memory.byteCount
    #expect(most >= many * memory.slotByteCount)
    #expect(most <= many * memory.slotByteCount + (4 << 20))
    for _ in 0..<many {
      give(Int(random.next() % UInt64(taken.count)))
      if random.next() % 3 == 0 { take() }
    }
    while !taken.isEmpty { give(Int(random.next() % UInt64(taken.count))) }
    // What is empty goes, but for a little.
    #expect(memory.byteCount <= 4 << 20)
    for _ in 0..<many { take() }
    #expect(memory.byteCount <= most + (4 << 20))
    while !taken.isEmpty { give(taken.count - 1) }
  }

  @Test func `a little takes little`() {
    let memory = FrameMemory(pageSize: 4096)
    let (slot, slab) = memory.take()
    #expect(memory.byteCount <= 128 << 10)
    memory.give(slot, of: slab)
  }
}
