import Quire
import Testing

/// Where object stores go wrong with parent contexts. The numbers are those of `docs/core-data.md`.
@Suite struct ParentGotchas {
  @Test(arguments: GotchaHome.allCases)
  func `12 – a child's object keeps its temporary ID until it is refreshed or asks for another`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { parent in
      let child = ManagedObjectContext(parent: parent)
      let objects = try (0..<2).map { try child.insert("Artist", ["name": "\($0)"]) }
      let temporary = objects.map(\.objectID)
      try child.save()
      #expect(objects.map(\.objectID) == temporary)
      let above = try temporary.map { try #require(parent.object(with: $0)) }
      #expect(above.map(\.objectID) == temporary)
      try parent.save()
      let permanent = above.map(\.objectID)
      #expect(permanent.allSatisfy { !$0.isTemporaryID })
      #expect(objects.map(\.objectID) == temporary && temporary.allSatisfy(\.isTemporaryID))
      child.refresh(objects[0], mergeChanges: true)
      try child.obtainPermanentIDs(for: [objects[1]])
      #expect(objects.map(\.objectID) == permanent)
      #expect(permanent.map { child.object(with: $0) } == objects)
      #expect(temporary.map { child.object(with: $0) } == objects)
    }
  }
}
