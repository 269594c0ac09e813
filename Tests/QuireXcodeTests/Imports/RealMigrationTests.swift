import Foundation
import Quire
import QuireSimulation
import QuireTesting
import QuireXcode
import Testing

/// Every real store, to every version of its model that came later: in one jump, and over every
/// version in between. Both must end up the same, value by value and link by link.
///
/// In debug some of the stores, and of each the last version; in optimised builds all of them, and
/// also the next version; every version with `QUIRE_EXHAUSTIVE=1`.
@Suite(.enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)))
struct RealMigrationTests {
  // The mapping models of the third project are tested with what reads them.
  @Test(arguments: Amount.some(of: RealStore.folio + RealStore.bookmarks, oneIn: 3, at: 0))
  func `a real store ends up the same in one jump and step by step`(_ real: RealStore) throws {
    let history = try real.history()
    let folder = try TemporaryFolder()
    let url = folder.file("\(real.name).quire")
    _ = try CoreDataImport(of: try real.url(), in: history).write(to: url)
    let names = history.versions.map(\.name)
    let start = try #require(names.firstIndex(of: real.version))
    var later = Array(names[(start + 1)...])
    if let first = later.first, let last = later.last, later.count > 2 {
      later = Amount.of(debug: [last], release: [first, last], exhaustive: later)
    }
    for name in later {
      let model = try #require(history.endingAt(name))
      try MigrationFixture(at: url).check(
        migratingTo: model, dropped: try goes(url, model), stepByStep: true)
    }
  }
}
