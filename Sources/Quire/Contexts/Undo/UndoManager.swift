/// Registers actions that undo changes, and that redo them.
///
/// The counterpart of Foundation's class of this name, which the toolchain does not have on Linux.
/// A context with an undo manager registers its changes there; a program may register actions of
/// its own among them.
///
/// Actions are collected in groups, and a group is undone as a whole. With ``groupsByEvent`` a
/// group opens with the first action and ends with the event. There is no run loop here: an event
/// ends with ``ManagedObjectContext/processPendingChanges()``, which `perform` calls too, with a
/// save, and with ``undo()``. The changes of a context are undone by events even without
/// ``groupsByEvent``, unless they are in a group that the program has begun: one change often
/// consists of several, which belong together.
///
/// ```swift
/// let undoManager = UndoManager()
/// undoManager.registerUndo(withTarget: document) { $0.zoom = 1 }
/// try undoManager.undo()
/// ```
///
/// Not Sendable: it belongs to the isolation of its context.
public final class UndoManager {
  private enum State { case idle, undoing, redoing }

  // Changed by this class alone, except when a memento restores them.
  //
  // Unchecked: actions retain objects of the program, whose `deinit` may use the manager. They are
  // released after their list was replaced by another, never while a list is changed in place.
  @exclusivity(unchecked) var undoGroups: [UndoGroup] = []
  @exclusivity(unchecked) var redoGroups: [UndoGroup] = []
  /// The groups that are open, outermost first.
  var open: [UndoGroup] {
    get { openGroups }
    set {
      if newValue.count != openGroups.count { generation += 1 }
      openGroups = newValue
    }
  }
  /// The open groups, for appending in place: a change through ``open`` would copy all actions.
  @exclusivity(unchecked) private var openGroups: [UndoGroup] = []
  private var state = State.idle
  private var disablingCount = 0
  /// Grows when a group begins or ends, or all actions are removed.
  var generation = 0
  /// The number of times that all actions were removed.
  private var forgettingCount = 0
  /// The recordings of contexts that register their changes here.
  private var recordings: [WeakRecording] = []

  private struct WeakRecording { weak var recording: UndoRecording? }

  /// Whether a group opens automatically with the first action of an event. At first `true`.
  public var groupsByEvent = true

  /// The largest number of groups that are kept; 0, as at first, for any number. The oldest are
  /// removed first.
  public var levelsOfUndo = 0 {
    didSet { trim() }
  }

  /// An undo manager without actions.
  public init() {}

  // MARK: Registering

  /// Registers an action that undoes a change of `target`.
  ///
  /// Actions that are registered while others are undone redo them. An action that is registered by
  /// anything but ``undo()`` and ``redo()`` removes all that could be redone.
  ///
  /// - Parameters:
  ///   - target: the object to change, not retained. When it is gone, the action does nothing.
  ///   - handler: changes the target. An error ends the undo, which throws it.
  public func registerUndo<Target: AnyObject>(
    withTarget target: Target, handler: @escaping (Target) throws -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if groupsByEvent { openEvent() }
    let isByItself = open.isEmpty
    if isByItself { open.append(UndoGroup()) }
    let entry = UndoGroup.Entry.action(target: ObjectIdentifier(target)) { [weak target] in
      if let target { try handler(target) }
    }
    append(entry)
    if isByItself { close() }
  }

  /// Opens a group for the event if none is open.
  func openEvent() {
    if open.isEmpty, state == .idle { open.append(UndoGroup(isEvent: true)) }
  }

  private func append(_ entry: UndoGroup.Entry) {
    openGroups[openGroups.count - 1].entries.append(entry)
    if state == .idle { redoGroups = [] }
  }

  /// Whether actions are registered: no call of ``disableUndoRegistration()`` is open.
  public var isUndoRegistrationEnabled: Bool { disablingCount == 0 }

  /// Registers no actions until ``enableUndoRegistration()`` was called as often as this.
  public func disableUndoRegistration() {
    processPendingChanges()
    disablingCount += 1
  }

  /// Ends the effect of one call of ``disableUndoRegistration()``. Without such a call it does
  /// nothing, where Foundation raises an exception.
  public func enableUndoRegistration() {
    processPendingChanges()
    disablingCount = max(0, disablingCount - 1)
  }

  func add(_ recording: UndoRecording) {
    recordings.removeAll { $0.recording == nil }
    recordings.append(WeakRecording(recording: recording))
  }

  func remove(_ recording: UndoRecording) {
    recordings.removeAll { $0.recording == nil || $0.recording === recording }
    removeAllActions(withTarget: recording)
  }

  /// Applies delete rules of earlier deletions, whose changes belong to the present group.
  private func processPendingChanges() {
    for item in recordings { item.recording?.processPendingChanges() }
  }

  // MARK: Groups

  /// The number of open groups, each within the one before.
  public var groupingLevel: Int { open.count }

  /// Opens a group within the one that is open.
  public func beginUndoGrouping() {
    processPendingChanges()
    if groupsByEvent { openEvent() }
    // Earlier changes, outside of any group.
    if !groupsByEvent { endEvent() }
    open.append(UndoGroup())
  }

  /// Ends the group that was opened last.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when none is open.
  public func endUndoGrouping() throws {
    processPendingChanges()
    guard let last = open.last, !last.isEvent else {
      throw PersistenceError(
        .persistentStoreOperation,
        "there is no undo group to end: endUndoGrouping() needs a beginUndoGrouping() before it")
    }
    close()
  }

  /// Ends the event: its group, if that is the only one open.
  func endEvent() {
    if open.count == 1, open[0].isEvent { close() }
  }

  /// Opens the group of the last event again, for changes that a save adds to it, unless something
  /// was undone since.
  func continueEvent() {
    guard open.isEmpty, state == .idle, redoGroups.isEmpty, undoGroups.last?.isEvent ?? false,
      let group = undoGroups.popLast()
    else { return }
    open.append(group)
  }

  private func close() {
    guard let group = open.popLast() else { return }
    if !open.isEmpty {
      // An empty group is dropped. Its name becomes that of the outer group if that has none.
      if !group.entries.isEmpty { openGroups[open.count - 1].entries.append(.group(group)) }
      if open[open.count - 1].name.isEmpty { open[open.count - 1].name = group.name }
      return
    }
    guard !group.entries.isEmpty else { return }
    switch state {
    case .idle, .redoing: undoGroups.append(group)
    case .undoing: redoGroups.append(group)
    }
    trim()
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    if undoGroups.count > levelsOfUndo { undoGroups = undoGroups.suffix(levelsOfUndo) }
    if redoGroups.count > levelsOfUndo { redoGroups = redoGroups.suffix(levelsOfUndo) }
  }

  // MARK: Undoing

  /// Whether there are actions to undo, those of the open event included. A group that the program
  /// has begun counts, but has to be ended before ``undo()``.
  public var canUndo: Bool { !undoGroups.isEmpty || open.contains { !$0.entries.isEmpty } }

  /// Whether something was undone that ``redo()`` can make again. A new action ends that.
  public var canRedo: Bool { !redoGroups.isEmpty }

  /// Whether ``undo()`` is running: an action that is registered now is one to redo.
  public var isUndoing: Bool { state == .undoing }

  /// Whether ``redo()`` is running: an action that is registered now is one to undo.
  public var isRedoing: Bool { state == .redoing }

  /// Ends the event and undoes the last group. Does nothing when there is none.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when a group that was begun is
  ///   not ended, or while another is undone; what an action throws: those that ran before it stay
  ///   undone then, and the group is removed; ``PersistenceError/Code/managedObjectContextBusy``
  ///   (132001) when a context whose changes are registered here is busy.
  public func undo() throws {
    try begin(for: "undo()")
    guard let group = undoGroups.popLast() else { return }
    try perform(group, as: .undoing)
  }

  /// Redoes the group that the last ``undo()`` has undone. Does nothing when there is none.
  ///
  /// - Throws: as ``undo()``.
  public func redo() throws {
    try begin(for: "redo()")
    guard let group = redoGroups.popLast() else { return }
    try perform(group, as: .redoing)
  }

  private func begin(for call: String) throws {
    for item in recordings { try item.recording?.context?.requireIdle(for: call) }
    if state == .idle {
      processPendingChanges()
      endEvent()
    }
    guard open.isEmpty, state == .idle else {
      throw PersistenceError(
        .persistentStoreOperation,
        "nothing can be undone or made again while an undo group is open or being undone")
    }
  }

  private func perform(_ group: UndoGroup, as state: State) throws {
    self.state = state
    open.append(UndoGroup(name: group.name))
    // Idle until now.
    let contexts = recordings.compactMap { $0.recording?.context }
    for context in contexts { context.activity = .undoing }
    defer {
      // Changes that hooks of the objects make belong to the group.
      for item in recordings { item.recording?.finishPerforming() }
      while !open.isEmpty { close() }
      self.state = .idle
      for context in contexts { context.activity = nil }
    }
    try perform(group.entries)
  }

  private func perform(_ entries: [UndoGroup.Entry]) throws {
    let count = forgettingCount
    for entry in entries.reversed() where forgettingCount == count {
      switch entry {
      case .action(_, let perform): try perform()
      case .group(let group):
        open.append(UndoGroup(name: group.name))
        try perform(group.entries)
        if forgettingCount == count { close() }
      }
    }
  }

  // MARK: Removing

  /// Removes all actions, ends all groups, and enables registration.
  public func removeAllActions() {
    let former = (undoGroups, redoGroups, open)
    undoGroups = []
    redoGroups = []
    // Actions that are registered after this within an undo are still one group.
    open = state == .idle ? [] : [UndoGroup()]
    disablingCount = 0
    generation += 1
    forgettingCount += 1
    withExtendedLifetime(former) {}
  }

  /// Removes the actions of one target, and groups that are empty then.
  public func removeAllActions(withTarget target: AnyObject) {
    let identifier = ObjectIdentifier(target)
    let former = (undoGroups, redoGroups, open)
    undoGroups = undoGroups.map { $0.without(identifier) }.filter { !$0.entries.isEmpty }
    redoGroups = redoGroups.map { $0.without(identifier) }.filter { !$0.entries.isEmpty }
    open = open.map { $0.without(identifier) }
    generation += 1
    withExtendedLifetime(former) {}
  }

  // MARK: Names

  /// Names the innermost open group, or else the last one: `Move` for a menu with `Undo Move`.
  public func setActionName(_ name: String) {
    if !open.isEmpty {
      open[open.count - 1].name = name
    } else if !undoGroups.isEmpty {
      undoGroups[undoGroups.count - 1].name = name
    }
  }

  /// The name of the group that ``undo()`` would undo; empty when it has none.
  public var undoActionName: String {
    open.first { !$0.entries.isEmpty }?.name ?? undoGroups.last?.name ?? ""
  }

  /// The name of the group that ``redo()`` would redo; empty when it has none.
  public var redoActionName: String { redoGroups.last?.name ?? "" }
}
