import Foundation
import Quire

#if !canImport(Darwin)
  /// Undo and redo of a context's changes. Foundation has this class on Apple's platforms alone.
  public typealias UndoManager = ContextUndoManager
#endif

/// Undo and redo, with the methods of Foundation's `UndoManager`, which do not throw.
///
/// What Foundation raises as an exception stops the program: undoing while a group is open, and
/// ending a group that was not begun.
open class ContextUndoManager: NSObject {
  /// The manager of Quire's.
  public let quireManager: Quire.UndoManager

  /// A manager without actions.
  public override init() { quireManager = Quire.UndoManager() }

  init(_ manager: Quire.UndoManager) { quireManager = manager }

  /// Whether a group opens with the first action of an event.
  open var groupsByEvent: Bool {
    get { quireManager.groupsByEvent }
    set { quireManager.groupsByEvent = newValue }
  }

  /// The largest number of groups that are kept; 0 for any number.
  open var levelsOfUndo: Int {
    get { quireManager.levelsOfUndo }
    set { quireManager.levelsOfUndo = newValue }
  }

  /// The number of open groups, each within the one before.
  open var groupingLevel: Int { quireManager.groupingLevel }
  /// Whether actions are registered.
  open var isUndoRegistrationEnabled: Bool { quireManager.isUndoRegistrationEnabled }
  /// Whether there is something to undo.
  open var canUndo: Bool { quireManager.canUndo }
  /// Whether there is something to make again.
  open var canRedo: Bool { quireManager.canRedo }
  /// Whether a group is being undone.
  open var isUndoing: Bool { quireManager.isUndoing }
  /// Whether a group is being made again.
  open var isRedoing: Bool { quireManager.isRedoing }

  /// Registers an action that undoes a change of an object, which is not retained.
  public func registerUndo<Target: AnyObject>(
    withTarget target: Target, handler: @escaping (Target) -> Void
  ) {
    quireManager.registerUndo(withTarget: target, handler: handler)
  }

  /// Registers no actions until ``enableUndoRegistration()`` was called as often as this.
  open func disableUndoRegistration() { quireManager.disableUndoRegistration() }
  /// Ends the effect of one call of ``disableUndoRegistration()``.
  open func enableUndoRegistration() { quireManager.enableUndoRegistration() }

  /// Opens a group within the one that is open.
  open func beginUndoGrouping() { quireManager.beginUndoGrouping() }
  /// Ends the group that was opened last. The program stops where none was.
  open func endUndoGrouping() {
    raising("endUndoGrouping()") { try quireManager.endUndoGrouping() }
  }

  /// Undoes the last group.
  open func undo() { raising("undo()") { try quireManager.undo() } }
  /// Makes the group again that was undone last.
  open func redo() { raising("redo()") { try quireManager.redo() } }
  /// Undoes the last group: the same as ``undo()``, as groups within another are undone with it.
  open func undoNestedGroup() { undo() }

  /// Removes all actions, and ends all groups.
  open func removeAllActions() { quireManager.removeAllActions() }

  /// Removes the actions of one object.
  open func removeAllActions(withTarget target: Any) {
    quireManager.removeAllActions(withTarget: target as AnyObject)
  }

  /// Names the innermost open group, or else the last one.
  open func setActionName(_ actionName: String) { quireManager.setActionName(actionName) }
  /// The name of the group that ``undo()`` would undo; empty when it has none.
  open var undoActionName: String { quireManager.undoActionName }
  /// The name of the group that ``redo()`` would make again; empty when it has none.
  open var redoActionName: String { quireManager.redoActionName }
}
