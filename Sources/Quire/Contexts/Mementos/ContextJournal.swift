/// What objects of a context held before they were changed, to come back to when what changes them
/// does not succeed.
///
/// The context tells of each object before its first change: what is kept, and what it costs, goes
/// by what is changed, and not by what the context knows. Changes that no function of
/// `ManagedObject+Slots.swift` and no insertion or deletion makes are to be told with
/// ``record(_:)``.
final class ContextJournal {
  private enum Entry {
    case changed(ObjectMemento)
    case inserted(ManagedObject)
  }

  private let watched: Set<ManagedObject>
  private let event: ContextEvent?
  private let undo: UndoMemento?
  private var entries: [Entry] = []
  private var known: Set<ObjectIdentifier> = []

  /// - Parameter context: in which no deletion waits for its rules.
  init(_ context: ManagedObjectContext) {
    watched = context.watched
    event = context.noticeCenter?.event
    undo = UndoMemento(context)
  }

  /// An object is about to change, or to be told that its row has come.
  func record(_ object: ManagedObject) {
    guard known.insert(ObjectIdentifier(object)).inserted else { return }
    entries.append(.changed(ObjectMemento(object)))
  }

  /// An object is about to come into the context.
  func recordInsertion(of object: ManagedObject) {
    guard known.insert(ObjectIdentifier(object)).inserted else { return }
    entries.append(.inserted(object))
  }

  func restore(_ context: ManagedObjectContext) {
    for entry in entries {
      switch entry {
      case .inserted(let object):
        object.leave(context)
      case .changed(let memento):
        let object = memento.object
        context.changes.remove(object)
        memento.restore()
        context.enter(object)
        context.changes.insert(object)
      }
    }
    context.watched = watched
    if let event { context.noticeCenter?.begin(event) }
    undo?.restore()
  }
}
