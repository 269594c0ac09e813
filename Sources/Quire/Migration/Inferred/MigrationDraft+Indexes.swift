import QuireModel
import QuireStorage

// The indexes that are kept in a migration. An index is kept if every key would be the same: its
// tree is then not touched, even if rows are rewritten.
extension MigrationDraft {
  /// The index of the old store whose tree a new index can use.
  ///
  /// - Parameter taken: the numbers of those that other indexes use already.
  func keptIndex(for new: StoredIndex, except taken: [UInt16]) -> StoredIndex? {
    let candidates = oldSchema.indexes.filter { old in
      !taken.contains(old.number) && hasSameKeys(old, new)
    }
    return candidates.first { $0.name == new.name } ?? candidates.first
  }

  private func hasSameKeys(_ old: StoredIndex, _ new: StoredIndex) -> Bool {
    guard old.kind == new.kind, old.predicate == new.predicate,
      old.elements.count == new.elements.count,
      zip(old.elements, new.elements).allSatisfy({
        $0.kind == $1.kind && $0.isAscending == $1.isAscending
          && $0.path.dropFirst() == $1.path.dropFirst()
      })
    else { return false }
    let hasStrangers = old.entities.contains { number in
      !new.entities.contains(number) && hadObjects(number)
    }
    if hasStrangers { return false }
    return new.entities.allSatisfy { number in
      guard hadObjects(number) else { return true }
      return old.entities.contains(number) && hasSameValues(number, old, new)
    }
  }

  private func hadObjects(_ number: UInt16) -> Bool {
    entities.contains { $0.stored.number == number && $0.objectCount > 0 }
      || removed.contains { $0.stored.number == number && $0.objectCount > 0 }
  }

  /// Whether the values in the keys and in the predicate are copied unchanged.
  private func hasSameValues(_ number: UInt16, _ old: StoredIndex, _ new: StoredIndex) -> Bool {
    guard let draft = entities.first(where: { $0.stored.number == number }),
      let layout = draft.old?.layout
    else { return false }
    let fields = RowLayout.fields(of: draft.destination)
    func isCopied(_ name: String?, from oldName: String?) -> Bool {
      guard let field = fields.firstIndex(where: { $0.name == name }),
        case .copy(let source) = draft.fields[field]
      else { return false }
      return layout.fields[source].name == oldName
    }
    for (one, other) in zip(old.elements, new.elements)
    where !isCopied(other.path.first, from: one.path.first) {
      return false
    }
    guard let format = new.predicate else { return true }
    guard let predicate = StoredIndex.partialPredicate(format, draft.destination),
      let evaluator = try? PredicateEvaluator(predicate)
    else { return false }
    return evaluator.paths.allSatisfy { isCopied($0.first, from: $0.first) }
  }

  // MARK: The plan

  func fetchIndexSteps(_ snapshot: Snapshot) throws -> [MigrationPlan.IndexStep] {
    var dropped = indexChanges.dropped
    var steps: [MigrationPlan.IndexStep] = []
    for index in newSchema.indexes {
      if let old = oldSchema.indexes.first(where: { $0.number == index.number }) {
        steps.append(try step(.kept, index, old, snapshot))
        continue
      }
      let replaced = dropped.firstIndex { old in
        old.kind == index.kind && old.name == index.name
          && entities.contains {
            $0.destination.name == index.entityName && $0.change.source?.name == old.entityName
          }
      }
      let sourceName = replaced.map { dropped.remove(at: $0).name }
      let count = rowCount(of: index)
      steps.append(
        MigrationPlan.IndexStep(
          kind: .init(index.kind), entityName: index.entityName, name: index.name,
          sourceName: sourceName, action: sourceName != nil || count > 0 ? .rebuilt : .added,
          entryCount: count, byteCount: Self.byteCount(of: index, entryCount: count),
          estimatedMilliseconds: MigrationEstimate.rebuilding(entries: count)))
    }
    for index in dropped { steps.append(try step(.removed, index, index, snapshot)) }
    return steps
  }

  /// The estimated size of an index that is not read: the reference, a tag byte, and a number for
  /// each element; the length of texts is not known.
  private static func byteCount(of index: StoredIndex, entryCount: Int) -> Int {
    wholePages(of: entryCount * (IndexKey.referenceByteCount + 9 * index.elements.count))
  }

  /// The number of rows of which an index is built.
  func rowCount(of index: StoredIndex) -> Int {
    entities.reduce(0) {
      $0 + (index.entities.contains($1.stored.number) ? $1.objectCount : 0)
    }
  }

  private func step(
    _ action: MigrationPlan.IndexStep.Action, _ index: StoredIndex, _ old: StoredIndex,
    _ snapshot: Snapshot
  ) throws -> MigrationPlan.IndexStep {
    let tree = try snapshot.indexTree(old.tree)
    let bytes =
      defers && action == .kept
      ? Self.byteCount(of: old, entryCount: tree?.count ?? 0)
      : try Self.byteCount(isTouched: action != .kept) { try tree?.extent() }
    return MigrationPlan.IndexStep(
      kind: .init(index.kind), entityName: index.entityName, name: index.name,
      sourceName: old.name, action: action, entryCount: tree?.count ?? 0, byteCount: bytes,
      estimatedMilliseconds: action == .removed ? MigrationEstimate.dropping(bytes: bytes) : 0)
  }
}

extension MigrationPlan.IndexStep.Kind {
  fileprivate init(_ kind: StoredIndex.Kind) {
    self =
      switch kind {
      case .fetch: .fetchIndex
      case .unique: .uniquenessConstraint
      }
  }
}
