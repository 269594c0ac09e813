import Quire
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The memory that objects' slots lie in, against a list of what was taken.
@Suite struct `The memory of slots` {
  private struct Taken {
    var start: UnsafeMutableRawPointer
    var mark: UInt64
  }

  private let byteCount = 144

  private func fill(_ start: UnsafeMutableRawPointer, _ mark: UInt64) {
    for offset in stride(from: 0, to: byteCount, by: 8) {
      start.storeBytes(of: mark, toByteOffset: offset, as: UInt64.self)
    }
  }

  /// Whoever had been given the same bytes would have put another mark there.
  private func isWhole(_ taken: Taken) -> Bool {
    stride(from: 0, to: byteCount, by: 8).allSatisfy {
      taken.start.load(fromByteOffset: $0, as: UInt64.self) == taken.mark
    }
  }

  @Test(arguments: [1, 2, 3])
  func `places are apart, and memory follows what is in use`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let memory = SlotMemory(byteCount: byteCount, isForMany: true)
    var taken: [Taken] = []
    var mark: UInt64 = 0
    // From few to many and back, several times: up to some large pieces.
    for target in [10, 3, Amount.of(debug: 6_000, release: 20_000), 500, 2_000, 0, 1, 0] {
      while taken.count != target {
        // Mostly towards the target, so that places come back in between.
        if (generator.below(4) > 0) == (taken.count < target) || taken.isEmpty {
          mark += 1
          let start = memory.take()
          #expect(Int(bitPattern: start) % 8 == 0)
          fill(start, mark)
          taken.append(Taken(start: start, mark: mark))
        } else {
          taken.swapAt(generator.below(taken.count), taken.count - 1)
          let last = taken.removeLast()
          if !isWhole(last) { Issue.record("place \(last.mark) was somebody else's, too") }
          SlotMemory.give(last.start)
        }
      }
      #expect(taken.allSatisfy(isWhole))
      #expect(memory.byteCount >= target * byteCount)
      if target == 0 { #expect(memory.byteCount <= 64 << 10) }
    }
    memory.leave()
    #expect(memory.byteCount == 0)
  }

  @Test func `slots in use outlive the last owner, and free the memory when given back`() {
    var taken: [Taken] = []
    let memory = SlotMemory(byteCount: byteCount, isForMany: true)
    memory.join()
    for mark in 0..<1_000 {
      let start = memory.take()
      fill(start, UInt64(mark))
      taken.append(Taken(start: start, mark: UInt64(mark)))
      if mark == 300 { memory.leave() }
    }
    // Some have room when the last home goes, and one serves.
    for index in stride(from: 990, to: 0, by: -10) {
      SlotMemory.give(taken.remove(at: index).start)
    }
    memory.leave()
    #expect(taken.allSatisfy(isWhole))
    #expect(memory.byteCount > 0)
    for item in taken { SlotMemory.give(item.start) }
    #expect(memory.byteCount == 0)
  }

  #if !QUIRE_FRAMES_APART
    /// A piece that is smaller by a few bytes would be made of small pages.
    @Test(arguments: [8, 144, 1_000, 5_000_000])
    func `pieces for many take a large page whole, and what is larger one each`(byteCount: Int) {
      let memory = SlotMemory(byteCount: byteCount, isForMany: true)
      var taken: [UnsafeMutableRawPointer] = []
      var former = 0
      repeat {
        former = memory.byteCount
        while memory.byteCount == former { taken.append(memory.take()) }
      } while memory.byteCount < 20 << 20
      let growth = memory.byteCount - former
      #expect(growth == max(2 << 20, byteCount + MemoryLayout<UnsafeRawPointer>.stride))
      // What was asked for last is in it, to its last byte.
      taken.last?.initializeMemory(as: UInt8.self, repeating: 1, count: byteCount)
      taken.forEach(SlotMemory.give)
      memory.leave()
      #expect(memory.byteCount == 0)
    }
  #endif

  @Test func `a home for one object has no room for others`() {
    let memory = SlotMemory(byteCount: byteCount, isForMany: false)
    let start = memory.take()
    #expect(memory.byteCount < 2 * byteCount)
    SlotMemory.give(start)
    memory.leave()
    #expect(memory.byteCount == 0)
  }
}

/// Objects whose slots go with them from one place to another.
@Suite struct `Slots of objects that move` {
  typealias Artist = SmallGallery.Artist

  /// Changes the slots of other objects: what was given back too early is written over.
  private func stir(_ context: ManagedObjectContext) {
    for number in 0..<50 { Artist(context: context).name = "somebody else \(number)" }
  }

  @Test func `objects that left a context bring their values into another, and outlive the first`()
    throws
  {
    var first: ManagedObjectContext? = try SmallGallery.context()
    let second = try SmallGallery.context()
    var artists: [Artist] = []
    if let first {
      artists = (0..<40).map {
        let artist = Artist(context: first)
        artist.name = "artist \($0)"
        return artist
      }
      first.rollback()
      for artist in artists.prefix(20) { second.insert(artist) }
      stir(first)
      stir(second)
    }
    first = nil
    // The others leave when their context is gone.
    for artist in artists.dropFirst(20) { second.insert(artist) }
    stir(second)
    #expect(artists.map(\.name) == (0..<40).map { "artist \($0)" })
    try second.save()
    stir(second)
    #expect(artists.map(\.name) == (0..<40).map { "artist \($0)" })
    #expect(try StoreFacts(second).findings == [])
  }

  @Test func `every slot comes along, to the last`() throws {
    let (first, second) = (try SmallGallery.context(), try SmallGallery.context())
    // All that this entity has are attributes, which stay with an object of nobody.
    let contracts = try (0..<20).map { number in
      let contract = try EntityDescription.insertNewObject(
        forEntityName: "Contract", into: first)
      try contract.setValue("contract \(number)", forKey: "title")
      try contract.setValue(Decimal(number), forKey: "value")
      return contract
    }
    first.rollback()
    for contract in contracts { second.insert(contract) }
    stir(first)
    for (number, contract) in contracts.enumerated() {
      #expect(try contract.value(forKey: "title") as? String == "contract \(number)")
      #expect(try contract.value(forKey: "value") as? Decimal == Decimal(number))
    }
  }

  @Test func `values set before and after a save stay, whoever else comes and goes`() throws {
    let context = try SmallGallery.context()
    var artists: [Artist] = []
    for round in 0..<6 {
      for number in 0..<30 {
        let artist = Artist(context: context)
        artist.name = "round \(round), \(number)"
        artists.append(artist)
      }
      if round % 2 == 0 { try context.save() }
      // Saved ones change, and some go with all they have.
      for artist in artists where artist.objectID.isTemporaryID == false {
        artist.name += "!"
      }
      let names = artists.map(\.name)
      for artist in artists.suffix(5) { context.delete(artist) }
      artists.removeLast(5)
      stir(context)
      #expect(artists.map(\.name) == Array(names.dropLast(5)), "round \(round)")
    }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }
}
