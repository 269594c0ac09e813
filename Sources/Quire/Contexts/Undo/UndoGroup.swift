/// Actions that are undone together, in the order of their registration.
struct UndoGroup {
  indirect enum Entry {
    /// An action whose target is gone does nothing.
    case action(target: ObjectIdentifier, perform: () throws -> Void)
    case group(UndoGroup)
  }

  var entries: [Entry] = []
  var name = ""
  /// Opened by the first action of an event, and closed by its end.
  var isEvent = false

  /// The group without the actions of one target, and without inner groups that are empty then.
  func without(_ target: ObjectIdentifier) -> UndoGroup {
    var group = self
    group.entries = entries.compactMap { entry in
      switch entry {
      case .action(target, _): return nil
      case .action: return entry
      case .group(let inner):
        let rest = inner.without(target)
        return rest.entries.isEmpty ? nil : .group(rest)
      }
    }
    return group
  }
}
