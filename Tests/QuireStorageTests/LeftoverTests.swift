import QuireSimulation
import QuireStorage
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

// 550 kills left twelve copies that nobody had finished and nobody removed.

/// What processes that died have left beside a store.
@Suite struct `Leftovers` {
  private static let uuid = "-new-01234567-89AB-4DEF-8123-456789ABCDEF"

  @Test func `files that a killed process was making are gone after the next opening`() throws {
    let scenario = Scenario.scripted
    var left: Set<String> = []
    var operation = 0
    while true {
      let disk = SimulatedDisk()
      let run = ScenarioRun(scenario, on: disk)
      disk.crash(after: operation)
      do {
        try run.run()
        run.closeIgnoringErrors()
        if disk.operationCount < operation { break }
      } catch {}
      run.die()
      let next = SimulatedDisk(disk.state)
      left.formUnion(next.files.keys.map { String($0.split(separator: "-new")[0]) })
      let names = next.files.keys.filter { $0.contains("-new") }
      try PageStore.open(Scenario.path, options: scenario.options, in: next).close()
      let remaining = next.files.keys.filter {
        $0 != Scenario.path && ($0.contains("-new") || $0.hasPrefix(Scenario.path))
      }
      #expect(remaining == [], "after \(operation) operations, of \(names)")
      operation += Amount.of(debug: 4, release: 1)
    }
    #expect(left.isSuperset(of: ["store", "store-pages", "store-log", "backup-1"]), "\(left)")
  }

  @Test func `only what nobody uses is removed, and only what is Quire's`() throws {
    let folder = try TemporaryFolder()
    let files = DiskFileSystem()
    let path = folder.path + "/store"
    func put(_ bytes: [UInt8], _ name: String) throws {
      let file = try files.open(folder.path + "/" + name, .create)
      try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
    try PageStore.open(path).close()
    let own = try #require(try folder.contents()["store"])
    let strange = folder.path + "/strange"
    try PageStore.open(strange).close()
    let other = try #require(try folder.contents()["strange"])
    try put([], "store" + Self.uuid)
    try put([1], "store-pages-new")
    try put([1], "store-log-new")
    try put(own, "copy" + Self.uuid)
    link(path, folder.path + "/store-new-11234567-89AB-4DEF-8123-456789ABCDEF")
    let kept = [
      "other" + Self.uuid, "store-new-", "store-new-1", "store" + Self.uuid.lowercased(),
      "store" + Self.uuid + "0", "store-new-21234567-89AB-4DEF-8123-456789ABCDEF",
    ]
    for name in kept { try put(name.hasPrefix("other") ? other : [1], name) }
    let used = try files.open(folder.path + "/" + kept[5], .write)
    #expect(try used.lock(.exclusive))
    // The note of one that died.
    try put([], "store-owner")
    try PageStore.open(path).close()
    #expect(folder.names == (kept + ["store", "strange"]).sorted())
  }
}
