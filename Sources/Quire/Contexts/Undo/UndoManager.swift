/// Remembers how to take changes back, and how to make them again.
///
/// What Foundation's class of this name is elsewhere; the toolchain has none for Linux. A context
/// that is given one enters its changes there; a program may enter actions of its own among them.
///
/// Actions are gathered in groups, and a group is undone whole. With ``groupsByEvent`` a group
/// opens with the first action and ends with the event. There is no run loop here: an event ends
/// with ``ManagedObjectContext/processPendingChanges()``, which ends `perform` too, with a save,
/// and with ``undo()``. The changes of a context are undone by events even without
/// ``groupsByEvent``, unless they are in a group that the program has begun: one change is often
/// several, which belong together.
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

  // Others than this class do not change these, but for coming back to what they were.
  //
  // Unchecked: actions hold what a program gave them, whose `deinit` may ask the manager. They go
  // when another list has the place of theirs, never while a list is changed in its place.
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
  /// To enter actions in place: past ``open``, of which each change would copy all that are there.
  @exclusivity(unchecked) private var openGroups: [UndoGroup] = []
  private var state = State.idle
  private var disablingCount = 0
  /// Grows when a group begins or ends, or all is forgotten.
  var generation = 0
  /// How often all was forgotten.
  private var forgettingCount = 0
  /// Of the contexts that enter their changes here.
  private var recordings: [WeakRecording] = []

  private struct WeakRecording { weak var recording: UndoRecording? }

  /// Whether a group opens by itself with the first action of an event.
  public var groupsByEvent = true

  /// How many groups are kept at most; 0 for any number. The oldest go first.
  public var levelsOfUndo = 0 {
    didSet { trim() }
  }

  public init() {}

  // MARK: Entering

  /// Enters an action that takes a change of `target` back.
  ///
  /// While actions are undone, what is entered is what makes them again. Forgets what could be
  /// made again, unless it is entered by ``undo()`` or ``redo()``.
  ///
  /// - Parameter target: held weakly. When it is gone, so is the action.
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

  public var isUndoRegistrationEnabled: Bool { disablingCount == 0 }

  /// Enters nothing until ``enableUndoRegistration()`` is called as often.
  public func disableUndoRegistration() {
    processPendingChanges()
    disablingCount += 1
  }

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

  /// Applies delete rules where they wait: what they change belongs to what came before.
  private func processPendingChanges() {
    for item in recordings { item.recording?.processPendingChanges() }
  }

  // MARK: Groups

  /// How many groups are open within each other.
  public var groupingLevel: Int { open.count }

  /// Opens a group within the one that is open.
  public func beginUndoGrouping() {
    processPendingChanges()
    if groupsByEvent { openEvent() }
    // Changes that came before, outside of any group.
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

  /// Opens the last event again, for what a save adds to it: unless something was undone since.
  func continueEvent() {
    guard open.isEmpty, state == .idle, redoGroups.isEmpty, undoGroups.last?.isEvent ?? false,
      let group = undoGroups.popLast()
    else { return }
    open.append(group)
  }

  private func close() {
    guard let group = open.popLast() else { return }
    if !open.isEmpty {
      // An empty group leaves no trace, and one without a name hands its name up.
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

  public var canUndo: Bool { !undoGroups.isEmpty || open.contains { !$0.entries.isEmpty } }
  public var canRedo: Bool { !redoGroups.isEmpty }
  public var isUndoing: Bool { state == .undoing }
  public var isRedoing: Bool { state == .redoing }

  /// Ends the event and takes the last group back. Does nothing when there is none.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when a group that was begun is
  ///   not ended, or while another is undone; what an action throws: those before it are taken back
  ///   then, and the group is gone; ``PersistenceError/Code/managedObjectContextBusy`` (132001)
  ///   when a context whose changes are entered here is busy.
  public func undo() throws {
    try begin(for: "undo()")
    guard let group = undoGroups.popLast() else { return }
    try perform(group, as: .undoing)
  }

  /// Makes again what the last ``undo()`` took back. Does nothing when there is nothing.
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
      // What objects do when they are told belongs to the group.
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

  // MARK: Forgetting

  /// Forgets all actions, and ends all groups.
  public func removeAllActions() {
    let former = (undoGroups, redoGroups, open)
    undoGroups = []
    redoGroups = []
    // What is entered after this in the middle of an undo is still one thing to be made again.
    open = state == .idle ? [] : [UndoGroup()]
    disablingCount = 0
    generation += 1
    forgettingCount += 1
    withExtendedLifetime(former) {}
  }

  /// Forgets the actions of one target.
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

  /// Names the group that is open, or else the last one: `Move` for a menu that says `Undo Move`.
  public func setActionName(_ name: String) {
    if !open.isEmpty {
      open[open.count - 1].name = name
    } else if !undoGroups.isEmpty {
      undoGroups[undoGroups.count - 1].name = name
    }
  }

  /// The name of what ``undo()`` would take back; empty when it has none.
  public var undoActionName: String {
    open.first { !$0.entries.isEmpty }?.name ?? undoGroups.last?.name ?? ""
  }

  /// The name of what ``redo()`` would make again; empty when it has none.
  public var redoActionName: String { redoGroups.last?.name ?? "" }
}
