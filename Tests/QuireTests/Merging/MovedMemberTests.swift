import Quire
import QuireSimulation
import Testing

/// Objects that were moved here to an owner that another save has deleted.
@Suite struct MovedMemberTests {
  private static let model = try! ManagedObjectModel {
    Entity("Owner") {
      Attribute("name", .string)
      Relationship("parts", toMany: "Part", inverse: "partOf", deleteRule: .cascade)
      Relationship("rows", toMany: "Part", inverse: "rowOf", ordered: true, deleteRule: .cascade)
      Relationship("weak", toMany: "Part", inverse: "weakOf", deleteRule: .nullify)
      Relationship("held", toMany: "Part", inverse: "heldBy", deleteRule: .deny)
      Relationship("loose", toMany: "Part", inverse: "looseOf", deleteRule: .noAction)
      Relationship("tagged", toMany: "Part", inverse: "tags", deleteRule: .cascade)
      Relationship("only", toOne: "Part", inverse: "onlyOf", deleteRule: .cascade)
    }
    Entity("Part") {
      Attribute("weight", .integer32, default: 0)
      Relationship("partOf", toOne: "Owner", inverse: "parts")
      Relationship("rowOf", toOne: "Owner", inverse: "rows")
      Relationship("weakOf", toOne: "Owner", inverse: "weak")
      Relationship("heldBy", toOne: "Owner", inverse: "held")
      Relationship("looseOf", toOne: "Owner", inverse: "loose")
      Relationship("tags", toMany: "Owner", inverse: "tagged")
      Relationship("onlyOf", toOne: "Owner", inverse: "only")
      Relationship("pointer", toOne: "Owner")
    }
  }

  /// Each relationship of a part, with its inverse.
  private static let sides: [(key: String, inverse: String)] = [
    ("partOf", "parts"), ("rowOf", "rows"), ("weakOf", "weak"), ("heldBy", "held"),
    ("looseOf", "loose"), ("tags", "tagged"), ("onlyOf", "only"), ("pointer", ""),
  ]

  /// In debug some of them for each place and policy.
  private static func sides(
    _ home: GotchaHome, _ policy: MergingPolicy, oneIn share: Int
  ) -> [(key: String, inverse: String)] {
    let place =
      GotchaHome.allCases.firstIndex(of: home)! + 3 * MergingPolicy.allCases.firstIndex(of: policy)!
    return Amount.some(of: sides, oneIn: share, at: place)
  }

  /// A part with its former owner, the one it is moved to, and one that has nothing to do with it.
  private struct Scene {
    let merge: MergeScene
    let part: ManagedObject
    let owners: [ManagedObject]
    let side: (key: String, inverse: String)

    init(
      _ context: ManagedObjectContext, _ policy: MergingPolicy,
      _ side: (key: String, inverse: String)
    ) throws {
      let owners = try ["former", "new", "other"].map { try context.insert("Owner", ["name": $0]) }
      let part = try context.insert("Part")
      self.side = side
      try Self.point(part, side.key, to: owners[0])
      try context.save()
      merge = try MergeScene(context, policy.policy)
      self.part = try merge.same(part)
      self.owners = try owners.map(merge.same)
    }

    static func point(_ part: ManagedObject, _ key: String, to owner: ManagedObject) throws {
      try part.setValue(key == "tags" ? Set([owner]) as Any : owner, forKey: key)
    }

    /// - Parameter fromOwner: whether the owner is given the part, or the part the owner.
    func move(fromOwner: Bool) throws {
      let (former, new) = (owners[0], owners[1])
      guard fromOwner, side.inverse != "" else {
        return try Self.point(part, side.key, to: new)
      }
      switch side.inverse {
      case "only": try new.setValue(part, forKey: side.inverse)
      case "rows": try new.setValue([part], forKey: side.inverse)
      case "tagged":
        try former.setValue(Set<ManagedObject>(), forKey: side.inverse)
        try new.setValue(Set([part]), forKey: side.inverse)
      default: try new.setValue(Set([part]), forKey: side.inverse)
      }
    }

    func there(_ object: ManagedObject) throws -> ManagedObject {
      try merge.there.existingObject(with: object.objectID)
    }

    /// The names of the owners of a part.
    static func names(_ part: ManagedObject, _ key: String) throws -> [String] {
      let value = try part.value(forKey: key)
      let owners = value as? Set<ManagedObject> ?? (value as? ManagedObject).map { [$0] } ?? []
      return try owners.compactMap { try $0.value(forKey: "name") as? String }
    }

    func expectOwners(_ names: [String], _ what: String) throws {
      let what = Comment(rawValue: "\(side.key), \(what)")
      #expect(try Self.names(part, side.key) == names, what)
      let fresh = try merge.fresh()
      let stored = try fresh.fetch(FetchRequest<ManagedObject>(entityName: "Part"))
      #expect(stored.count == 1, what)
      for part in stored { #expect(try Self.names(part, side.key) == names, what) }
    }
  }

  /// The former owner had it back, and took it along when it was deleted, or was denied to go.
  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a part that was taken away stays without an owner when the new one is gone`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    for side in Self.sides(home, policy, oneIn: 6) {
      for (fromOwner, isDeleted) in [(false, true), (true, true), (false, false), (true, false)] {
        try home.withContext(Self.model, classes: []) { context in
          let scene = try Scene(context, policy, side)
          try scene.move(fromOwner: fromOwner)
          if isDeleted { scene.merge.here.delete(scene.owners[0]) }
          scene.merge.there.delete(try scene.there(scene.owners[1]))
          try scene.merge.save()
          try scene.expectOwners([], "\(fromOwner) \(isDeleted)")
          let left = try scene.merge.fresh().values(of: "name", "Owner", nil, sortedBy: "name")
          #expect(left == (isDeleted ? ["other"] : ["former", "other"]))
        }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `where another save has moved it leads on when the owner chosen here is gone`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    for side in Self.sides(home, policy, oneIn: 3) {
      for isDeleted in [true, false] {
        try home.withContext(Self.model, classes: []) { context in
          let scene = try Scene(context, policy, side)
          try scene.move(fromOwner: false)
          if isDeleted { scene.merge.here.delete(scene.owners[0]) }
          try Scene.point(
            try scene.there(scene.part), side.0, to: try scene.there(scene.owners[2]))
          scene.merge.there.delete(try scene.there(scene.owners[1]))
          try scene.merge.save()
          try scene.expectOwners(["other"], "\(isDeleted)")
        }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `an owner that nothing here has chosen is not taken away for being gone`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    for side in Self.sides(home, policy, oneIn: 2) {
      try home.withContext(Self.model, classes: []) { context in
        let scene = try Scene(context, policy, side)
        try scene.part.setValue(5, forKey: "weight")
        try Scene.point(
          try scene.there(scene.part), side.0, to: try scene.there(scene.owners[2]))
        scene.merge.there.delete(try scene.there(scene.owners[0]))
        try scene.merge.save()
        try scene.expectOwners(["other"], "")
      }
    }
  }

  /// It was saved in its former place, or deleted with its former owner.
  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a part that needs an owner is not saved when the new one is gone`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    for isDeleted in [true, false] {
      try home.withContext { context in
        let shows = (0..<3).map { _ in SmallGallery.Show(context: context) }
        let room = SmallGallery.Room(context: context)
        room.show = shows[0]
        try context.save()
        let scene = try MergeScene(context, policy.policy)
        let (same, sameShows) = (try scene.same(room), try shows.map(scene.same))
        same.show = sameShows[1]
        if isDeleted { scene.here.delete(sameShows[0]) }
        context.delete(shows[1])
        let error = #expect(throws: PersistenceError.self) { try scene.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
        // Nothing is changed here, so that another owner can be chosen.
        #expect(scene.here.updatedObjects.contains(same) && !same.isDeleted)
        #expect(try scene.storedNames(shows[0], "rooms", "number").count == 1)
        same.show = sameShows[2]
        try scene.here.save()
        #expect(same.show === sameShows[2] && sameShows[2].rooms == [same])
        #expect(try scene.storedNames(shows[2], "rooms", "number").count == 1)
        #expect(try scene.fresh().all(SmallGallery.Show.self).count == (isDeleted ? 1 : 2))
        #expect(try StoreFacts(scene.here).findings == [])
      }
    }
  }
}
