// Merges of children: a child that merges automatically is told which objects its parent has saved
// or merged.
extension ManagedObjectContext {
  /// Passes a merge of this context to the children that merge automatically.
  final func notifyChildren(of references: [MergedReference]) {
    notifyChildren(
      Dictionary(
        references.map {
          (GlobalReference(store: $0.session.identity, reference: $0.reference), $0.isInsertion)
        }, uniquingKeysWith: { $0 || $1 }))
  }

  final func notifyChildren(
    _ references: [GlobalReference: Bool], except saving: ManagedObjectContext? = nil
  ) {
    guard let family, family.hasChildren, !references.isEmpty else { return }
    for child in family.livingChildren where child !== saving && child.mergesCommits {
      child.family?.waiting.merge(references) { $0 || $1 }
      child.operations.mergeWaitingCommits()
      // Observers are called in an event of the child's own, as after a commit of others.
      child.wakeOnCommit?()
    }
  }

  /// Passes a merge with unlisted changes to the children, which merge all their objects.
  final func notifyChildrenOfAll() {
    guard let family, family.hasChildren else { return }
    for child in family.livingChildren where child.mergesCommits {
      for session in child.sessions {
        for object in session.objects where object.isStored {
          let reference = GlobalReference(store: session.identity, reference: object.reference)
          child.family?.waiting[reference] = child.family?.waiting[reference] ?? false
        }
      }
      child.family?.waitsForAll = true
      child.operations.mergeWaitingCommits()
      child.wakeOnCommit?()
    }
  }

  final func takeWaitingForAll() -> Bool {
    guard let family, family.waitsForAll else { return false }
    self.family?.waitsForAll = false
    return true
  }

  /// The references of objects to merge, each with whether the object was inserted; then none wait.
  final func takeWaitingReferences() -> [GlobalReference: Bool] {
    guard let waiting = family?.waiting, !waiting.isEmpty else { return [:] }
    family?.waiting = [:]
    return waiting
  }
}
