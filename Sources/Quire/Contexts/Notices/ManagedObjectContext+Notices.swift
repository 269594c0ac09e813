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

  public func cancel() {
    center?.remove(number)
    center = nil
  }
}

@available(*, unavailable)
extension ContextObservation: Sendable {}

extension ManagedObjectContext {
  /// Calls `body`, in this context's isolation, when something happens here.
  ///
  /// What `body` changes is part of the next notice. It may save if the notice is of what is over:
  /// not in ``ContextNotice/Kind/willSaveObjects``, nor in changes that are posted while a save or
  /// an undo is under way, when the context is busy.
  ///
  /// - Parameters:
  ///   - kinds: what is to be told; everything by default.
  ///   - body: the context holds it until the token goes: it should not hold the context.
  /// - Returns: a token, which ends the registration when it is released.
  public final func observe(
    _ kinds: Set<ContextNotice.Kind> = Set(ContextNotice.Kind.allCases),
    _ body: @escaping (ContextNotice) -> Void
  ) -> ContextObservation {
    let center = requiredNoticeCenter()
    return ContextObservation(center, center.add(kinds, .callback(body)))
  }

  /// The same, and calls `whenDone` when nothing is left to be told: after the processing of
  /// changes, also when nobody has changed anything here, and after a save.
  final func observe(
    _ kinds: Set<ContextNotice.Kind>, _ body: @escaping (ContextNotice) -> Void,
    whenDone: @escaping () -> Void
  ) -> ContextObservation {
    let center = requiredNoticeCenter()
    return ContextObservation(center, center.add(kinds, .callback(body), whenDone: whenDone))
  }

  /// What happens here from now on, as values that may be sent to any isolation.
  ///
  /// The sequence keeps what nobody has taken yet, and ends with the context.
  public final func notices(
    _ kinds: Set<ContextNotice.Kind> = Set(ContextNotice.Kind.allCases)
  ) -> AsyncStream<ObjectIDNotice> {
    let (stream, continuation) = AsyncStream.makeStream(of: ObjectIDNotice.self)
    _ = requiredNoticeCenter().add(kinds, .stream(continuation))
    return stream
  }

  private func requiredNoticeCenter() -> NoticeCenter {
    if let noticeCenter { return noticeCenter }
    let center = NoticeCenter(self)
    noticeCenter = center
    observers.append(center)
    return center
  }

  final func dropNoticeCenter(_ center: NoticeCenter) {
    observers.removeAll { $0 === center }
    if noticeCenter === center { noticeCenter = nil }
  }
}
