import Quire
import QuireModel
import QuireSimulation
import Testing

private let model = try! ManagedObjectModel {
  Entity("Node") {
    Attribute("weight", .integer64, optional: false, default: 0)
    Attribute("doubled", .integer64, derivedFrom: "weight * 2")
    Attribute("a", .integer64, derivedFrom: "doubled * 2")
    Attribute("load", .integer64, derivedFrom: "children.@sum.weight")
    Attribute("size", .integer64, derivedFrom: "weight + children.@sum.size")
    Attribute("heavy", .integer64, derivedFrom: "TERNARY(size > 20, 1, 0)")
    Attribute("groupRank", .integer64, derivedFrom: "group.rank")
    Attribute("deep", .integer64, derivedFrom: "parent.group.number")
    Attribute("grand", .integer64, derivedFrom: "parent.parent.a")
    Attribute("twinWeight", .integer64, derivedFrom: "twin.doubled")
    Attribute("friendCount", .integer64, derivedFrom: "friends.@count")
    Attribute("friendMaximum", .integer64, derivedFrom: "friends.@max.a")
    Attribute("familiar", .integer64, derivedFrom: "friends.parent.@count")
    Relationship("parent", toOne: "Node", inverse: "children")
    Relationship("children", toMany: "Node", inverse: "parent", deleteRule: .cascade)
    Relationship("twin", toOne: "Node", inverse: "twin")
    Relationship("friends", toMany: "Node", inverse: "friends")
    Relationship("group", toOne: "Group", inverse: "members")
  }
  Entity("Group") {
    Attribute("number", .integer64, optional: false, default: 0)
    Attribute("rank", .integer64, derivedFrom: "heavy * 10 + number")
    Attribute("heavy", .integer64, derivedFrom: "members.@sum.heavy")
    Attribute(
      "light", .integer64, derivedFrom: "SUBQUERY(members, $m, $m.heavy == 0).@count")
    Attribute("eldest", .integer64, derivedFrom: "SUBQUERY(members, $m, $m.parent == nil).@count")
    Relationship("members", toMany: "Node", inverse: "group", ordered: true)
  }
}

// After every save each stored value is what its expression makes of the stored objects, whichever
// way these came to be what they are: whoever forgets to note an owner is found out.
@Suite struct RandomDerivedTests {
  private static let seeds = Seeds.upTo(Amount.of(debug: 2, release: 12, exhaustive: 1000))

  @Test func `stored values are what their expressions make of stored objects`() throws {
    for seed in Self.seeds {
      for home in GotchaHome.own {
        try home.withContext(model, classes: []) { context in
          var walk = Walk(context, seed)
          for _ in 0..<Amount.of(debug: 20, release: 40) {
            for _ in 0..<walk.random.below(6) { try walk.step() }
            try context.save()
            let findings = try Self.findings(context)
            #expect(findings == [], "seed \(seed) \(home)")
            if !findings.isEmpty { return }
          }
        }
      }
    }
  }

  private static func findings(_ context: ManagedObjectContext) throws -> [String] {
    var findings: [String] = []
    let fresh = SmallGallery.sibling(of: context)
    for entity in model.entities {
      for object in try fresh.fetch(FetchRequest<ManagedObject>(entityName: entity.name)) {
        for attribute in entity.attributes {
          guard let text = attribute.derivationExpression else { continue }
          let stored = try object.value(forKey: attribute.name) as? Int
          let result = try FetchExpression(format: text).expressionValue(with: object)
          let expected = result.flatMap { Double("\($0)") }.map { Int($0) }
          if stored == expected { continue }
          findings.append(
            "\(entity.name).\(attribute.name) is \(String(describing: stored)), "
              + "and should be \(String(describing: expected))")
        }
      }
    }
    return findings
  }

  private struct Walk {
    let context: ManagedObjectContext
    var random: SeededGenerator
    /// Parents come before their children.
    var nodes: [ManagedObject] = []
    var groups: [ManagedObject] = []

    init(_ context: ManagedObjectContext, _ seed: UInt64) {
      self.context = context
      random = SeededGenerator(seed: seed)
    }

    mutating func any(_ objects: [ManagedObject]) -> ManagedObject? {
      let object = objects.isEmpty ? nil : objects[random.below(objects.count)]
      return object?.isDeleted == false && object?.managedObjectContext != nil ? object : nil
    }

    mutating func step() throws {
      let node = any(nodes)
      switch random.below(12) {
      case 0, 1:
        nodes.append(try context.insert("Node", ["weight": random.below(15)]))
        try nodes.last?.setValue(any(nodes.dropLast()), forKey: "parent")
        try nodes.last?.setValue(any(groups), forKey: "group")
      case 2: groups.append(try context.insert("Group", ["number": random.below(9)]))
      case 3: try node?.setValue(random.below(15), forKey: "weight")
      case 4: try any(groups)?.setValue(random.below(9), forKey: "number")
      case 5:
        let place = nodes.firstIndex { $0 === node } ?? 0
        try node?.setValue(any(Array(nodes[..<place])), forKey: "parent")
      case 6: try node?.setValue(any(groups), forKey: "group")
      case 7:
        let members = (0..<3).compactMap { _ in any(nodes) }
        try any(groups)?.setValue(
          members.enumerated().filter { members[..<$0].contains($1) == false }.map(\.element),
          forKey: "members")
      case 8: try node?.setValue(any(nodes), forKey: "twin")
      case 9:
        try node?.setValue(Set((0..<3).compactMap { _ in any(nodes) }), forKey: "friends")
      case 10:
        if let object = random.below(3) == 0 ? any(groups) : node { context.delete(object) }
      default:
        if random.below(4) == 0 { context.refreshAllObjects() }
      }
    }
  }
}
