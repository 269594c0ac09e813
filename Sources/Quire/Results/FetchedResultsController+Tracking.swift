import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Observation of the context, and calls to the delegate.
extension FetchedResultsController {
  /// Observes the context if there is a delegate, and otherwise ends the observation.
  func observe() {
    guard delegate != nil, scope != nil else {
      observation = nil
      return
    }
    if observation != nil { return }
    observation = managedObjectContext.observe(
      [.didChangeObjects, .didSaveObjects, .didMergeChangesObjectIDs],
      { [weak self] notice in self?.receive(notice) },
      whenDone: { [weak self] in self?.followChanges() })
  }

  private func receive(_ notice: ContextNotice) {
    guard delegate != nil, let scope else {
      observation = nil
      return
    }
    if notice.invalidatedAllObjects {
      self.scope = nil
      waiting = nil
      observation = nil
      return
    }
    guard let news = scope.news(in: notice) else { return }
    waiting = waiting ?? FetchedResultsNews()
    waiting?.formUnion(news)
  }

  /// Processes the collected changes after the current notice, so that a merge and the changes that
  /// follow from it are reported together.
  private func followChanges() {
    // Changes that the delegate makes while it is called are processed when the call is over.
    if isBusy { return }
    isBusy = true
    defer { isBusy = false }
    while let news = waiting {
      waiting = nil
      take(news)
    }
  }

  /// Updates the result and calls the delegate. After an error the former result stays, and the
  /// context's next fetch or save throws the error.
  private func take(_ news: FetchedResultsNews) {
    guard let scope, let former = list else { return }
    do {
      let current = news.asksAgain ? try fetchAgain(scope) : former
      notify(from: former, to: current, news)
    } catch {
      managedObjectContext.report(error)
    }
  }

  private func notify(
    from former: SectionedList<ManagedObject>, to current: SectionedList<ManagedObject>,
    _ news: FetchedResultsNews
  ) {
    let difference = SectionedDifference(
      from: former, to: current, by: { ObjectIdentifier($0) },
      isTouched: { news.touched.contains($0) })
    let formerIDs = objectIDs
    let ids = current.elements.map(\.objectID)
    if difference.isEmpty, ids == formerIDs {
      list = current
      return
    }
    guard let delegate else { return }
    if !difference.isEmpty { delegate.controllerWillChangeContent(self) }
    list = current
    objectIDs = ids
    notify(delegate, difference, from: former, to: current)
    let steps = difference.steps(from: formerIDs, to: ids)
    if !steps.isEmpty { delegate.controller(self, didChangeContentWith: steps) }
    delegate.controller(
      self, didChangeContentWith: snapshot(of: current, ids, difference.changes, news))
    if !difference.isEmpty { delegate.controllerDidChangeContent(self) }
  }

  private func notify(
    _ delegate: any FetchedResultsControllerDelegate<Result>, _ difference: SectionedDifference,
    from former: SectionedList<ManagedObject>, to current: SectionedList<ManagedObject>
  ) {
    for index in difference.deletedSections {
      delegate.controller(
        self, didChange: section(index, of: former).emptied, atSectionIndex: index, for: .delete)
    }
    for index in difference.insertedSections {
      delegate.controller(
        self, didChange: section(index, of: current), atSectionIndex: index, for: .insert)
    }
    func notify(_ type: FetchedResultsChangeType, _ from: Int?, _ to: Int?) {
      let object = to.map { current.elements[$0] } ?? from.map { former.elements[$0] }
      guard let object = object as? Result else { return }
      delegate.controller(
        self, didChange: object, at: from.map(former.indexPath), for: type,
        newIndexPath: to.map(current.indexPath))
    }
    for change in difference.changes {
      switch change {
      case .delete(let from): notify(.delete, from, nil)
      case .insert(let to): notify(.insert, nil, to)
      case .move(let from, let to): notify(.move, from, to)
      case .update(let from, let to): notify(.update, from, to)
      }
    }
  }

  private func snapshot(
    of list: SectionedList<ManagedObject>, _ ids: [ManagedObjectID],
    _ changes: [SectionedDifference.Change], _ news: FetchedResultsNews
  ) -> FetchedResultsSnapshot {
    let updated = changes.compactMap { change -> ManagedObjectID? in
      switch change {
      case .update(_, let to): return ids[to]
      case .move(_, let to): return news.touched.contains(list.elements[to]) ? ids[to] : nil
      case .insert, .delete: return nil
      }
    }
    return FetchedResultsSnapshot(
      sections: list.sections.map { .init(name: $0.name, objectIDs: Array(ids[$0.range])) },
      updatedObjectIDs: Set(updated))
  }
}

extension SectionedDifference {
  /// The difference as steps from one list of IDs to the other.
  fileprivate func steps(
    from former: [ManagedObjectID], to current: [ManagedObjectID]
  ) -> CollectionDifference<ManagedObjectID> {
    var steps: [CollectionDifference<ManagedObjectID>.Change] = []
    var (gone, new): (Set<Int>, Set<Int>) = ([], [])
    func replace(_ from: Int?, _ to: Int?) {
      // With another ID it is not a move but a removal and an insertion.
      let isSame = from.map { former[$0] } == to.map { current[$0] }
      if let from {
        gone.insert(from)
        steps.append(
          .remove(offset: from, element: former[from], associatedWith: isSame ? to : nil))
      }
      if let to {
        new.insert(to)
        steps.append(
          .insert(offset: to, element: current[to], associatedWith: isSame ? from : nil))
      }
    }
    for change in changes {
      switch change {
      case .delete(let from): replace(from, nil)
      case .insert(let to): replace(nil, to)
      case .move(let from, let to): replace(from, to)
      case .update: continue
      }
    }
    // The other elements have kept their order; a save may have given them another ID.
    let stayed = zip(
      former.indices.filter { !gone.contains($0) }, current.indices.filter { !new.contains($0) })
    for (from, to) in stayed where former[from] != current[to] { replace(from, to) }
    return CollectionDifference(steps) ?? current.difference(from: former)
  }
}
