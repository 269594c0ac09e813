/// Ends a registration at a context when it is released, or cancelled. Belongs to the context's
/// isolation.
public final class ContextObservation {
  private weak var center: NoticeCenter?
  private let number: Int

  init(_ center: NoticeCenter, _ number: Int) {
    self.center = center
    self.number = number
  }

  deinit { center?.remove(number) }

  /// Ends the registration. Another call does nothing.
  public func cancel() {
    center?.remove(number)
    center = nil
  }
}

@available(*, unavailable)
extension ContextObservation: Sendable {}

extension ManagedObjectContext {
  /// Calls `body`, in this context's isolation, with notices of what happens here.
  ///
  /// Changes that `body` makes are part of the next notice. It may save when a save or a merge has
  /// ended: not in ``ContextNotice/Kind/willSaveObjects``, nor in notices of changes that are
  /// posted during a save or an undo, when the context is busy.
  ///
  /// - Parameters:
  ///   - kinds: the kinds of notices to get; all of them by default.
  ///   - body: retained by the context until the registration ends, so it should not retain the
  ///     context.
  /// - Returns: a token, which ends the registration when it is released.
  public final func observe(
    _ kinds: Set<ContextNotice.Kind> = Set(ContextNotice.Kind.allCases),
    _ body: @escaping (ContextNotice) -> Void
  ) -> ContextObservation {
    let center = requiredNoticeCenter()
    return ContextObservation(center, center.add(kinds, .callback(body)))
  }

  /// As ``observe(_:_:)``, and calls `whenDone` when there are no more notices: after each
  /// processing of changes, even if nothing has changed, and after a save.
  final func observe(
    _ kinds: Set<ContextNotice.Kind>, _ body: @escaping (ContextNotice) -> Void,
    whenDone: @escaping () -> Void
  ) -> ContextObservation {
    let center = requiredNoticeCenter()
    return ContextObservation(center, center.add(kinds, .callback(body), whenDone: whenDone))
  }

  /// The notices of what happens here from now on, as values that may be sent to any isolation.
  ///
  /// The sequence buffers notices until they are taken, and ends with the context.
  public final func notices(
    _ kinds: Set<ContextNotice.Kind> = Set(ContextNotice.Kind.allCases)
  ) -> AsyncStream<ObjectIDNotice> {
    let (stream, continuation) = AsyncStream.makeStream(of: ObjectIDNotice.self)
    _ = requiredNoticeCenter().add(kinds, .stream(continuation))
    return stream
  }

  /// The poster of notices, with what only those ask of it who know what a notice is.
  final var noticeCenter: NoticeCenter? { notices as? NoticeCenter }

  private func requiredNoticeCenter() -> NoticeCenter {
    if let noticeCenter { return noticeCenter }
    let center = NoticeCenter(self)
    notices = center
    observers.append(center)
    return center
  }

  final func dropNoticeCenter(_ center: NoticeCenter) {
    observers.removeAll { $0 === center }
    if notices === center { notices = nil }
  }
}
