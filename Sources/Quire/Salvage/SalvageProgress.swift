import QuireModel
import QuireStorage

/// How far the writing of a salvage is, in entries that are read.
///
/// Rows are read four times: to be copied, to find those that cannot be read, to repair them and to
/// count them; then once more for each of their indexes. Links are read twice.
final class SalvageProgress {
  private let report: (StoreProgress) throws -> Void
  private let total: Int
  private var done = 0

  /// - Parameter report: is called from time to time.
  init(
    _ salvage: TreeSalvage, _ entities: StoreEntities, _ model: ManagedObjectModel,
    _ report: @escaping (StoreProgress) throws -> Void
  ) {
    self.report = report
    total = entities.byIndex.compactMap { $0 }.reduce(0) { sum, storage in
      func count(_ name: String) -> Int { salvage.tree(named: name)?.likelyEntryCount ?? 0 }
      let declaration = storage.binding.entity.declaration
      let indexCount = declaration.indexes.count + declaration.uniquenessConstraints.count
      return sum + (4 + indexCount) * count(storage.stored.rowTree)
        + storage.stored.links.reduce(0) { $0 + 2 * count($1.tree) }
    }
  }

  /// One entry is done.
  func advance() throws { try advance(by: 1) }

  func advance(by count: Int) throws {
    let before = done
    done += count
    guard before >> 10 != done >> 10 else { return }
    try report(StoreProgress(completedUnitCount: done, totalUnitCount: max(done, total)))
  }
}
