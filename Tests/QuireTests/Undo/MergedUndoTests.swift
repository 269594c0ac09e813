import Quire
import Testing

/// What can be undone when others' saves are merged.
@Suite struct MergedUndoTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// The artwork was given to one artist here and to another there. That it left the other's
  /// artworks, where the merge had shown it, was entered as somebody's change.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `what makes room for others' changes is not undone by itself`(
    _ home: GotchaHome, _ isMerged: Bool
  ) throws {
    try home.withTwoContexts { one, two in
      let undoManager = UndoManager()
      one.undoManager = undoManager
      let artists = (0..<3).map { _ in Artist(context: one) }
      let artwork = Artwork(context: one)
      artwork.artist = artists[0]
      try one.save()
      undoManager.removeAllActions()
      artwork.artist = artists[1]
      one.processPendingChanges()
      let same = try #require(try two.existingObject(with: artwork.objectID) as? Artwork)
      same.artist = try two.existingObject(with: artists[2].objectID) as? Artist
      var notices: [ContextNotice] = []
      let observation = two.observe([.didSaveObjects]) { notices.append($0) }
      try two.save()
      if isMerged {
        one.mergeChanges(fromContextDidSave: try #require(notices.first))
      } else {
        one.refreshAllObjects()
      }
      #expect(artwork.artist === artists[1])
      #expect(artists.map(\.artworks.count) == [0, 1, 0])
      one.undo()
      #expect(artwork.artist === artists[0])
      #expect(artists.map(\.artworks.count) == [1, 0, 0])
      #expect(!undoManager.canUndo && undoManager.canRedo)
      one.redo()
      #expect(artists.map(\.artworks.count) == [0, 1, 0])
      try one.save()
      #expect(try StoreFacts(one).findings == [])
      withExtendedLifetime(observation) {}
    }
  }
}
