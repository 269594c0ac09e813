/// The state of a context's objects before they were changed, to be restored when the operation
/// that changes them fails.
///
/// The context records each object before its first change, so the cost grows with the number of
/// changed objects, not of registered ones. Changes other than those by functions of
/// `ManagedObject+Slots.swift`, insertions and deletions have to be announced by ``record(_:)``.
final class ContextJournal {
  private enum Entry {
    case changed(ObjectMemento)
    case inserted(ManagedObject)
  }

  private let watched: Set<ManagedObject>
  private var entries: [Entry] = []
  private var known: Set<ObjectIdentifier> = []

  /// - Parameter context: a context in which no delete rules are to be applied.
  init(_ context: ManagedObjectContext) {
    watched = context.watched
  }

  /// Records an object that is about to change, or whose row is about to be read.
  func record(_ object: ManagedObject) {
    guard known.insert(ObjectIdentifier(object)).inserted else { return }
    entries.append(.changed(ObjectMemento(object)))
  }

  /// Records an object that is about to be inserted.
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
  }
}
