/// Remembers how to take changes back, and how to make them again.
///
/// What Foundation's class of this name is elsewhere; the toolchain has none for Linux. A context
/// that is given one enters its changes there; a program may enter actions of its own among them.
///
/// Actions are gathered in groups, and a group is undone whole. With ``groupsByEvent`` a group
/// opens with the first action and ends with the event. There is no run loop here: an event ends
/// where the context processes its changes, at a save, and at ``undo()``.
///
/// ```swift
/// let undoManager = UndoManager()
/// undoManager.registerUndo(withTarget: document) { $0.zoom = 1 }
/// try undoManager.undo()
/// ```
///
/// Not Sendable: it belongs to the isolation of its context.
public final class UndoManager {
  /// An action, or a group of them.
  private indirect enum Entry {
    case action(target: Target, perform: () throws -> Void)
    case group(Group)
  }

  private struct Group {
    var entries: [Entry] = []
    var name = ""
    /// Opened by the first action of an event, and closed by its end.
    var isEvent = false
  }

  private enum Target {
    /// Held weakly: an action whose target is gone does nothing, and goes.
    case object(Weak)
    case context
  }

  private struct Weak {
    weak var object: AnyObject?
    let identifier: ObjectIdentifier
  }

  private enum State { case idle, undoing, redoing }

  private var undoGroups: [Group] = []
  private var redoGroups: [Group] = []
  /// The groups that are open, outermost first.
  private var open: [Group] = []
  private var state = State.idle
  private var disablingCount = 0

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
    let weak = Weak(object: target, identifier: ObjectIdentifier(target))
    register(.object(weak)) { [weak target] in
      if let target { try handler(target) }
    }
  }

  /// Enters a context's changes.
  func register(_ perform: @escaping () throws -> Void) { register(.context, perform) }

  private func register(_ target: Target, _ perform: @escaping () throws -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if open.isEmpty {
      // Outside of any group, an action is a group of its own.
      open.append(Group(isEvent: groupsByEvent && state == .idle))
      append(.action(target: target, perform: perform))
      if !open[0].isEvent { close() }
    } else {
      append(.action(target: target, perform: perform))
    }
  }

  private func append(_ entry: Entry) {
    if state == .idle { redoGroups = [] }
    open[open.count - 1].entries.append(entry)
  }

  public var isUndoRegistrationEnabled: Bool { disablingCount == 0 }

  /// Enters nothing until ``enableUndoRegistration()`` is called as often.
  public func disableUndoRegistration() { disablingCount += 1 }

  public func enableUndoRegistration() { disablingCount = max(0, disablingCount - 1) }

  // MARK: Groups

  /// How many groups are open within each other.
  public var groupingLevel: Int { open.count }

  /// Opens a group within the one that is open.
  public func beginUndoGrouping() {
    if open.isEmpty, groupsByEvent, state == .idle { open.append(Group(isEvent: true)) }
    open.append(Group())
  }

  /// Ends the group that was opened last.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` when none is open.
  public func endUndoGrouping() throws {
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

  private func close() {
    guard let group = open.popLast() else { return }
    if !open.isEmpty {
      // An empty group leaves no trace, and one without a name hands its name up.
      if !group.entries.isEmpty { open[open.count - 1].entries.append(.group(group)) }
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
    undoGroups.removeFirst(max(0, undoGroups.count - levelsOfUndo))
    redoGroups.removeFirst(max(0, redoGroups.count - levelsOfUndo))
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
  ///   then, and the group is gone.
  public func undo() throws {
    endEvent()
    guard open.isEmpty, state == .idle else { throw UndoManager.busy }
    guard let group = undoGroups.popLast() else { return }
    try perform(group, as: .undoing)
  }

  /// Makes again what the last ``undo()`` took back. Does nothing when there is nothing.
  ///
  /// - Throws: as ``undo()``.
  public func redo() throws {
    guard open.isEmpty, state == .idle else { throw UndoManager.busy }
    guard let group = redoGroups.popLast() else { return }
    try perform(group, as: .redoing)
  }

  private static var busy: PersistenceError {
    PersistenceError(
      .persistentStoreOperation,
      "nothing can be undone or made again while an undo group is open or being undone")
  }

  private func perform(_ group: Group, as state: State) throws {
    self.state = state
    open.append(Group(name: group.name))
    defer {
      while !open.isEmpty { close() }
      self.state = .idle
    }
    try perform(group.entries)
  }

  private func perform(_ entries: [Entry]) throws {
    for entry in entries.reversed() {
      switch entry {
      case .action(_, let perform): try perform()
      case .group(let group):
        open.append(Group(name: group.name))
        try perform(group.entries)
        close()
      }
    }
  }

  // MARK: Forgetting

  /// Forgets all actions, and ends all groups.
  public func removeAllActions() {
    undoGroups = []
    redoGroups = []
    open = []
    disablingCount = 0
  }

  /// Forgets the actions of one target.
  public func removeAllActions(withTarget target: AnyObject) {
    let identifier = ObjectIdentifier(target)
    func without(_ group: Group) -> Group {
      var group = group
      group.entries = group.entries.compactMap { entry in
        switch entry {
        case .action(.object(let weak), _) where weak.identifier == identifier: return nil
        case .action: return entry
        case .group(let inner):
          let rest = without(inner)
          return rest.entries.isEmpty ? nil : .group(rest)
        }
      }
      return group
    }
    undoGroups = undoGroups.map(without).filter { !$0.entries.isEmpty }
    redoGroups = redoGroups.map(without).filter { !$0.entries.isEmpty }
    open = open.map(without)
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
