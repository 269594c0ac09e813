import Quire
import Testing

/// One-to-one relationships in which another context leads an object to one that is deleted here.
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
}
