import Quire
import Testing

/// One-to-one relationships whose ends are changed by several contexts.
@Suite struct TwinTests {
  private static let model = try! ManagedObjectModel {
    Entity("Twin") {
      Attribute("name", .string)
      Relationship("twin", toOne: "Twin", inverse: "twin")
      Relationship("cover", toOne: "Twin", inverse: "covered")
      Relationship("covered", toOne: "Twin", inverse: "cover")
    }
  }

  enum Meeting: CaseIterable { case conflict, merge, automaticMerge }

  private static let names = ["twin", "cover", "covered"]

  @Test(arguments: Meeting.allCases, names)
  func `who was led to what is deleted meanwhile does not lead there any more`(
    _ meeting: Meeting, _ name: String
  ) throws {
    for policy in [MergePolicy.error] + MergingPolicy.allCases.map(\.policy) {
      try GotchaHome.memory.withContext(Self.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let (left, right) = (try one.insert("Twin"), try one.insert("Twin"))
        try one.save()
        two.automaticallyMergesChangesFromParent = meeting == .automaticMerge
        let book = NoticeBook(one, .didSaveObjectIDs)
        two.mergePolicy = policy
        let own = try two.existingObject(with: right.objectID)
        _ = try own.value(forKey: "name")
        two.delete(own)
        two.processPendingChanges()
        try left.setValue(right, forKey: name)
        try one.save()
        if meeting == .merge {
          for notice in book.take() { two.mergeChanges(fromContextDidSave: notice) }
        }
        let isRefused = policy.mergeType == .errorMergePolicyType
        if isRefused {
          let error = #expect(throws: PersistenceError.self) { try two.save() }
          #expect(error?.code == .managedObjectMerge)
          #expect(error?.conflicts.map(\.objectID) == [right.objectID])
          two.mergePolicy = .mergeByPropertyObjectTrump
        }
        try two.save()
        let check = SmallGallery.sibling(of: one)
        let found = try check.fetch(FetchRequest<ManagedObject>(entityName: "Twin"))
        let isKept = [.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType]
          .contains(policy.mergeType)
        #expect(found.count == (isKept ? 2 : 1))
        let kept = try check.existingObject(with: left.objectID).value(forKey: name)
        #expect((kept as? ManagedObject)?.objectID == (isKept ? right.objectID : nil))
      }
    }
  }

  /// Where each of some objects leads in the store, after a look at whether both ends agree.
  private static func destinations(
    _ name: String, of objects: [ManagedObject], _ context: ManagedObjectContext
  ) throws -> [ManagedObjectID?] {
    let check = SmallGallery.sibling(of: context)
    let inverse = ["cover": "covered", "covered": "cover"][name] ?? name
    return try objects.map { object in
      let found = try check.existingObject(with: object.objectID)
      let destination = try found.value(forKey: name) as? ManagedObject
      if let destination {
        #expect(try destination.value(forKey: inverse) as? ManagedObject === found)
      }
      return destination?.objectID
    }
  }

  /// Only one of two objects that others had led to each other was read anew. What it is then taken
  /// from still showed that nothing led there, so that nothing of it was saved, and the store had a
  /// twin whose twin was another's.
  @Test(arguments: names, [false, true])
  func `who was read before others led to it is let go of with the other end`(
    _ name: String, _ leadsOn: Bool
  ) throws {
    for policy in [MergePolicy.error] + MergingPolicy.allCases.map(\.policy) {
      try GotchaHome.memory.withContext(Self.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let (left, right) = (try one.insert("Twin"), try one.insert("Twin"))
        try one.save()
        two.mergePolicy = policy
        let own = try [left, right].map { try two.existingObject(with: $0.objectID) }
        for object in own { _ = try object.value(forKey: name) }
        try left.setValue(right, forKey: name)
        try one.save()
        two.refresh(own[0], mergeChanges: false)
        #expect(try own[0].value(forKey: name) as? ManagedObject === own[1])
        let other = leadsOn ? try two.insert("Twin") : nil
        try own[0].setValue(other, forKey: name)
        if policy.mergeType == .errorMergePolicyType {
          let error = #expect(throws: PersistenceError.self) { try two.save() }
          #expect(error?.code == .managedObjectMerge)
          #expect(error?.conflicts.map(\.objectID) == [right.objectID])
          #expect(
            try Self.destinations(name, of: [left], one) == [right.objectID], "nothing is saved")
          two.refresh(own[1], mergeChanges: true)
        }
        try two.save()
        #expect(try Self.destinations(name, of: own, one) == [other?.objectID, nil])
      }
    }
  }

  @Test(arguments: Meeting.allCases, names)
  func `a destination that two contexts give to different objects belongs to one of them`(
    _ meeting: Meeting, _ name: String
  ) throws {
    for policy in [MergePolicy.error] + MergingPolicy.allCases.map(\.policy) {
      try GotchaHome.memory.withContext(Self.model, classes: []) { one in
        let two = SmallGallery.sibling(of: one)
        let objects = try (0..<3).map { _ in try one.insert("Twin") }
        try one.save()
        two.automaticallyMergesChangesFromParent = meeting == .automaticMerge
        let book = NoticeBook(one, .didSaveObjectIDs)
        two.mergePolicy = policy
        let own = try objects.map { try two.existingObject(with: $0.objectID) }
        try own[2].setValue(own[1], forKey: name)
        try objects[0].setValue(objects[1], forKey: name)
        try one.save()
        if meeting == .merge {
          for notice in book.take() { two.mergeChanges(fromContextDidSave: notice) }
        }
        var isRefused = false
        do {
          try two.save()
        } catch let error as PersistenceError where error.code == .managedObjectMerge {
          isRefused = true
        }
        #expect(isRefused == (policy.mergeType == .errorMergePolicyType && meeting == .conflict))
        let isOurs = !isRefused && (meeting != .conflict || policy.isForMemory)
        var expected: [ManagedObjectID?] = [nil, nil, nil]
        expected[isOurs ? 2 : 0] = objects[1].objectID
        if name == "twin" { expected[1] = objects[isOurs ? 2 : 0].objectID }
        #expect(try Self.destinations(name, of: objects, one) == expected)
      }
    }
  }
}

extension MergePolicy {
  fileprivate var isForMemory: Bool {
    [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType].contains(mergeType)
  }
}
