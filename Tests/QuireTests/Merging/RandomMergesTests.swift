import Quire
import QuireSimulation
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

private let model = try! ManagedObjectModel {
  Entity("Node") {
    Attribute("number", .integer32)
    Attribute("a", .integer32, default: 0)
    Attribute("b", .integer32, default: 0)
    Relationship("parent", toOne: "Node", inverse: "children")
    Relationship("children", toMany: "Node", inverse: "parent")
    Relationship("twin", toOne: "Node", inverse: "twin")
    Relationship("friends", toMany: "Node", inverse: "friends")
    Relationship("steps", toMany: "Node", inverse: "stepOf", ordered: true, deleteRule: .cascade)
    Relationship("stepOf", toOne: "Node", inverse: "steps")
  }
}

/// Contexts of one store that fetch all of it, change it, and save in random order.
private final class Merging {
  typealias World = MergeOracle.World

  private final class Player {
    let context: ManagedObjectContext
    var policy = MergingPolicy.objectTrump
    var fetched: World = [:]
    var memory: World = [:]
    var objects: [Int: ManagedObject] = [:]
    init(_ context: ManagedObjectContext) { self.context = context }
  }

  private var generator: SeededGenerator
  private let label: String
  private let policies: [MergingPolicy]
  private let players: [Player]
  private var store: World = [:]
  private var last = 0
  private(set) var saves = 0
  private(set) var merges = 0
  private(set) var isGood = true

  init(seed: UInt64, policies: [MergingPolicy], url: URL?) throws {
    generator = SeededGenerator(seed: seed)
    self.policies = policies
    label = "seed \(seed), \(policies), \(url == nil ? "in memory" : "in a file")"
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: url == nil ? .inMemory : .quire, at: url)
    players = (0..<3).map { _ in Player(GotchaHome.context(of: coordinator)) }
    for player in players { try begin(player) }
  }

  func run(_ steps: Int) throws {
    var step = 0
    while step < steps, isGood {
      step += 1
      let player = players[generator.below(players.count)]
      if generator.below(14) == 0 {
        try save(player, step)
      } else {
        try change(player)
      }
    }
  }

  private func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if condition { return }
    isGood = false
    Issue.record("\(label): \(what())")
  }

  private func random(_ ids: some Collection<Int>) -> Int? {
    ids.isEmpty ? nil : ids.sorted()[generator.below(ids.count)]
  }

  /// Sees all of the store, and has it in memory.
  private func begin(_ player: Player) throws {
    player.context.reset()
    player.objects = [:]
    for object in try player.context.fetch(FetchRequest<ManagedObject>(entityName: "Node")) {
      player.objects[try #require(try object.value(forKey: "number") as? Int)] = object
    }
    player.fetched = store
    player.memory = store
    player.policy = policies[generator.below(policies.count)]
    player.context.mergePolicy = player.policy.policy
  }

  // MARK: Changes

  private func change(_ player: Player) throws {
    let kind = generator.below(20)
    // Few, so that contexts meet.
    if kind < 4 && player.memory.count < 12 || player.memory.count < 3 {
      last += 1
      let object = try player.context.insert("Node", ["number": last])
      player.objects[last] = object
      player.memory[last] = .init(version: 0)
    }
    guard let id = random(player.memory.keys), let object = player.objects[id] else { return }
    let other = generator.below(4) == 0 ? nil : random(player.memory.keys)
    let target = other.flatMap { player.objects[$0] }
    switch kind {
    case 4..<8:
      let value = generator.below(3)
      let isFirst = generator.below(2) == 0
      try object.setValue(value, forKey: isFirst ? "a" : "b")
      player.memory[id]?[keyPath: isFirst ? \MergeOracle.Node.a : \.b] = value
    case 8..<11:
      try object.setValue(target, forKey: "parent")
      player.memory[id]?.parent = other
    case 11..<13 where other != id:
      try object.setValue(target, forKey: "twin")
      MergeOracle.divorce(id, &player.memory)
      if let other {
        MergeOracle.divorce(other, &player.memory)
        player.memory[id]?.twin = other
        player.memory[other]?.twin = id
      }
    case 13..<16:
      guard let other, other != id, let target else { return }
      var friends = try #require(try object.value(forKey: "friends") as? Set<ManagedObject>)
      let isNew = friends.insert(target).inserted
      if !isNew { friends.remove(target) }
      try object.setValue(friends, forKey: "friends")
      for (one, two) in [(id, other), (other, id)] {
        if isNew {
          player.memory[one]?.friends.insert(two)
        } else {
          player.memory[one]?.friends.remove(two)
        }
      }
    case 16..<19:
      var steps = player.memory[id]?.steps ?? []
      if let other { steps.contains(other) ? steps.removeAll { $0 == other } : steps.append(other) }
      steps.shuffle(using: &generator)
      try object.setValue(steps.compactMap { player.objects[$0] }, forKey: "steps")
      for step in player.memory[id]?.steps ?? [] { MergeOracle.leaveSteps(step, &player.memory) }
      for step in steps {
        MergeOracle.leaveSteps(step, &player.memory)
        player.memory[step]?.stepOf = id
      }
      player.memory[id]?.steps = steps
    case 19:
      player.context.delete(object)
      player.context.processPendingChanges()
      MergeOracle.delete(id, &player.memory)
      for id in player.objects.keys where player.memory[id] == nil { player.objects[id] = nil }
    default: return
    }
  }

  // MARK: Saves

  private func save(_ player: Player, _ step: Int) throws {
    let oracle = MergeOracle(
      policy: player.policy, fetched: player.fetched, memory: player.memory, store: store)
    let conflicts = oracle.conflicts
    let expected = MergeOracle.saved(oracle.merged(), over: store)
    try player.context.save()
    saves += 1
    if !conflicts.isEmpty { merges += 1 }
    let what = "step \(step), \(player.policy), conflicts \(conflicts.sorted())"
    expect(!player.context.hasChanges, "\(what): changes are left")
    expect(try StoreFacts(player.context).findings == [], "\(what): the store is not sound")
    let fresh = SmallGallery.sibling(of: player.context)
    let found = try world(fresh)
    compare(found, expected, what)
    // What was not part of the merge may still be as it was fetched.
    let shown = try world(player.context).filter { conflicts.contains($0.key) }
    compare(shown, found.filter { conflicts.contains($0.key) }, "\(what), in memory")
    store = found.mapValues { $0 }
    for id in store.keys { store[id]?.version = expected[id]?.version ?? 1 }
    try begin(player)
  }

  private func compare(_ found: World, _ expected: World, _ what: String) {
    for id in Set(found.keys).union(expected.keys).sorted() {
      var (one, two) = (found[id], expected[id])
      one?.version = 0
      two?.version = 0
      guard one != two else { continue }
      func text(_ node: MergeOracle.Node?) -> String { node.map { "\($0)" } ?? "nothing" }
      expect(false, "\(what): \(id) is \(text(one)), expected \(text(two))")
    }
  }

  private func world(_ context: ManagedObjectContext) throws -> World {
    var world: World = [:]
    for object in try context.fetch(FetchRequest<ManagedObject>(entityName: "Node")) {
      func number(_ object: ManagedObject?) throws -> Int? {
        try object?.value(forKey: "number") as? Int
      }
      func one(_ key: String) throws -> Int? {
        try number(object.value(forKey: key) as? ManagedObject)
      }
      let friends = try object.value(forKey: "friends") as? Set<ManagedObject> ?? []
      let steps = try object.value(forKey: "steps") as? [ManagedObject] ?? []
      world[try #require(try number(object))] = .init(
        a: try object.value(forKey: "a") as? Int ?? 0,
        b: try object.value(forKey: "b") as? Int ?? 0,
        parent: try one("parent"), twin: try one("twin"),
        friends: Set(try friends.compactMap(number)), steps: try steps.compactMap(number),
        stepOf: try one("stepOf"))
    }
    return world
  }
}

@Suite struct RandomMergesTests {
  private static let seeds = Seeds.upTo(Amount.of(debug: 1, release: 4, exhaustive: 100))
  private static let choices: [[MergingPolicy]] =
    MergingPolicy.allCases.map { [$0] } + [MergingPolicy.allCases]

  @Test(arguments: seeds, choices)
  func `every policy leaves what dictionaries say, in memory and in a file`(
    _ seed: UInt64, _ policies: [MergingPolicy]
  ) throws {
    let steps = Amount.of(debug: 120, release: 400, exhaustive: 5000)
    let inMemory = try Merging(seed: seed, policies: policies, url: nil)
    try inMemory.run(steps)
    try withTemporaryFolder { folder in
      let inFile = try Merging(
        seed: seed, policies: policies, url: folder.appending(path: "store"))
      try inFile.run(steps)
      print("seed \(seed), \(policies): \(inFile.saves) saves, \(inFile.merges) merges")
      #expect(inFile.saves > steps / 40)
      // So much is demanded of the suite's own seeds; others may merge less.
      #expect(Seeds.wanted != nil || inFile.merges > steps / 160)
    }
  }
}
