/// The work during which a context may call hooks, policies, handlers or observers.
///
/// A context that is busy, or whose parent or child is, may be read, fetched from, and changed by
/// what it calls. Calls that would remove its objects or its stores are refused with
/// ``PersistenceError/Code/managedObjectContextBusy``.
enum ContextActivity: String {
  case saving = "being saved"
  case applyingDeleteRules = "applying delete rules"
  case merging = "merging what others have saved"
  case undoing = "undoing or redoing changes"
  case refreshing = "refreshing objects"
  case dropping = "dropping its changes or its objects"
  case runningBatch = "running a batch request"
  case callingHook = "calling a hook of an object"
}

extension ManagedObjectContext {
  /// The work that this context itself is doing; `nil` when it is idle.
  final var presentActivity: ContextActivity? {
    activity ?? (runningHookCount > 0 ? .callingHook : nil)
  }

  /// Calls `body`, during which the context is busy.
  final func during<Result>(
    _ activity: ContextActivity, _ body: () throws -> Result
  ) rethrows -> Result {
    let outer = self.activity
    self.activity = activity
    defer {
      if outer == nil, runningHookCount == 0 { assertInvariants() }
      self.activity = outer
    }
    return try body()
  }

  /// - Parameter call: what was called, as in a program.
  /// - Throws: ``PersistenceError/Code/managedObjectContextBusy`` when this context, or another one
  ///   of its family, is busy.
  final func requireIdle(for call: String) throws {
    guard let (context, activity) = root.busyContext else { return }
    let name = context.name.map { " \($0)" } ?? ""
    let which = context === self ? "the context\(name)" : "the related context\(name)"
    throw PersistenceError(
      .managedObjectContextBusy,
      "\(call) was called while \(which) is \(activity.rawValue), by something that it calls: in a "
        + "hook, a policy, a handler or an observer objects can be read, fetched and changed; call "
        + "\(call) when that has returned")
  }

  /// As ``requireIdle(for:)``, for calls that cannot throw.
  ///
  /// - Returns: whether the context is idle; if not, the error is kept for its next fetch or save.
  final func isIdle(for call: String) -> Bool {
    do {
      try requireIdle(for: call)
      return true
    } catch {
      report(error)
      return false
    }
  }

  /// The ancestor without a parent.
  final var root: ManagedObjectContext {
    var root = self
    while let parent = root.parent { root = parent }
    return root
  }

  /// This context or the first of its descendants that is busy.
  private final var busyContext: (context: ManagedObjectContext, activity: ContextActivity)? {
    if let presentActivity { return (self, presentActivity) }
    for child in family?.livingChildren ?? [] {
      if let busy = child.busyContext { return busy }
    }
    return nil
  }
}
