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
    if let commit = notice.objectIDs.commitNumber { knownCommits.insert(commit) }
    knownCommits.formUnion(notice.objectIDs.mergedCommits)
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
      notify(from: former, try update(of: former, news, scope))
    } catch {
      // The former result is not what is there now.
      forgetState()
      managedObjectContext.report(error)
    }
  }

  private func update(
    of former: SectionedList<ManagedObject>, _ news: FetchedResultsNews,
    _ scope: FetchedResultsScope
  ) throws -> FetchedListUpdate {
    func isTouched(_ object: ManagedObject) -> Bool { news.touched.contains(object) }
    if scope.allowsUpdates, !news.mustFetch,
      let changed = news.changedObjects(
        of: Result.self, in: managedObjectContext,
        atMost: FetchedListUpdate.largestCount(in: former)),
      let update = try update(of: former, changed, isTouched: isTouched, scope)
    {
      return update
    }
    let current = news.asksAgain ? try fetchAgain(scope) : former
    return FetchedListUpdate(of: former, objectIDs, to: current, isTouched: isTouched)
  }

  private func notify(from former: SectionedList<ManagedObject>, _ update: FetchedListUpdate) {
    let (current, difference) = (update.list, update.difference)
    if difference.isEmpty, update.renamed.isEmpty {
      list = current
      return
    }
    guard let delegate else { return forgetState() }
    if !difference.isEmpty { delegate.controllerWillChangeContent(self) }
    let formerIDs = objectIDs
    list = current
    objectIDs = update.objectIDs
    notify(delegate, difference, from: former, to: current)
    if let steps = update.steps(from: formerIDs) {
      delegate.controller(self, didChangeContentWith: steps)
    }
    delegate.controller(self, didChangeContentWith: snapshot(of: update))
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
      let object: Result
      if let to {
        object = current.result(at: to)
      } else if let from {
        object = former.result(at: from)
      } else {
        return
      }
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

  private func snapshot(of update: FetchedListUpdate) -> FetchedResultsSnapshot {
    FetchedResultsSnapshot(
      list: SectionedList<ManagedObjectID>(
        elements: update.objectIDs, sections: update.list.sections),
      updatedObjectIDs: update.updatedObjectIDs)
  }
}
