import Quire
import Testing

@Suite struct UndoManagerTests {
  /// Something with a value whose changes can be taken back.
  private final class Counter {
    var values: [Int] = []
    let undo: UndoManager

    init(_ undo: UndoManager) { self.undo = undo }

    func add(_ value: Int) {
      values.append(value)
      undo.registerUndo(withTarget: self) { $0.remove() }
    }

    private func remove() {
      let value = values.removeLast()
      undo.registerUndo(withTarget: self) { $0.add(value) }
    }
  }

  private func make(byEvent: Bool = false) -> (UndoManager, Counter) {
    let undo = UndoManager()
    undo.groupsByEvent = byEvent
    return (undo, Counter(undo))
  }

  @Test func `the last action is undone first and redone last`() throws {
    let (undo, counter) = make()
    #expect(!undo.canUndo && !undo.canRedo)
    try undo.undo()
    for value in 1...3 { counter.add(value) }
    try undo.undo()
    try undo.undo()
    #expect(counter.values == [1] && undo.canUndo && undo.canRedo)
    try undo.redo()
    #expect(counter.values == [1, 2])
    try undo.redo()
    try undo.redo()
    #expect(counter.values == [1, 2, 3] && !undo.canRedo)
    for _ in 1...4 { try undo.undo() }
    #expect(counter.values == [])
  }

  @Test func `a new action forgets what could be made again`() throws {
    let (undo, counter) = make()
    counter.add(1)
    counter.add(2)
    try undo.undo()
    counter.add(3)
    #expect(!undo.canRedo)
    try undo.undo()
    try undo.undo()
    #expect(counter.values == [])
    try undo.redo()
    try undo.redo()
    #expect(counter.values == [1, 3])
  }

  @Test func `a group is taken back whole, with the groups within`() throws {
    let (undo, counter) = make()
    counter.add(0)
    undo.beginUndoGrouping()
    counter.add(1)
    undo.beginUndoGrouping()
    #expect(undo.groupingLevel == 2)
    counter.add(2)
    counter.add(3)
    try undo.endUndoGrouping()
    counter.add(4)
    #expect(throws: PersistenceError.self) { try undo.undo() }
    try undo.endUndoGrouping()
    try undo.undo()
    #expect(counter.values == [0])
    try undo.redo()
    #expect(counter.values == [0, 1, 2, 3, 4])
    try undo.undo()
    #expect(counter.values == [0])
    #expect(throws: PersistenceError.self) { try undo.endUndoGrouping() }
  }

  @Test func `an event is a group`() throws {
    let (undo, counter) = make(byEvent: true)
    counter.add(1)
    counter.add(2)
    #expect(undo.canUndo && undo.groupingLevel == 1)
    try undo.undo()
    #expect(counter.values == [])
    try undo.redo()
    #expect(counter.values == [1, 2])
    counter.add(3)
    try undo.undo()
    #expect(counter.values == [1, 2])
    #expect(throws: PersistenceError.self) { try undo.endUndoGrouping() }
  }

  @Test func `only so many levels are kept`() throws {
    let (undo, counter) = make()
    undo.levelsOfUndo = 2
    for value in 1...4 { counter.add(value) }
    for _ in 1...4 { try undo.undo() }
    #expect(counter.values == [1, 2])
    undo.levelsOfUndo = 1
    try undo.redo()
    #expect(counter.values == [1, 2, 3] && !undo.canRedo)
  }

  @Test func `while registration is off nothing is entered`() throws {
    let (undo, counter) = make()
    undo.disableUndoRegistration()
    undo.disableUndoRegistration()
    counter.add(1)
    undo.enableUndoRegistration()
    #expect(!undo.isUndoRegistrationEnabled)
    counter.add(2)
    undo.enableUndoRegistration()
    counter.add(3)
    try undo.undo()
    #expect(counter.values == [1, 2] && !undo.canUndo)
  }

  @Test func `an action does not keep its target, and goes with it`() throws {
    let undo = UndoManager()
    var counter: Counter? = Counter(undo)
    weak let weakly = counter
    counter?.add(1)
    counter = nil
    #expect(weakly == nil)
    try undo.undo()
    #expect(!undo.canRedo)
  }

  @Test func `the actions of a target can be forgotten, or all`() throws {
    let (undo, counter) = make()
    let other = Counter(undo)
    counter.add(1)
    undo.beginUndoGrouping()
    counter.add(2)
    other.add(3)
    try undo.endUndoGrouping()
    undo.removeAllActions(withTarget: counter)
    try undo.undo()
    #expect(counter.values == [1, 2] && other.values == [] && !undo.canUndo)
    counter.add(4)
    undo.removeAllActions()
    #expect(!undo.canUndo && !undo.canRedo)
  }

  @Test func `groups have names`() throws {
    let (undo, counter) = make()
    undo.beginUndoGrouping()
    undo.setActionName("Add")
    counter.add(1)
    try undo.endUndoGrouping()
    #expect(undo.undoActionName == "Add" && undo.redoActionName == "")
    try undo.undo()
    #expect(undo.undoActionName == "" && undo.redoActionName == "Add")
    try undo.redo()
    #expect(undo.undoActionName == "Add")
    counter.add(2)
    undo.setActionName("Again")
    #expect(undo.undoActionName == "Again")
  }

  @Test func `an error of an action ends undoing, and what was taken back can be made again`()
    throws
  {
    struct Failure: Error {}
    let (undo, counter) = make()
    undo.beginUndoGrouping()
    undo.registerUndo(withTarget: counter) { _ in throw Failure() }
    counter.add(1)
    try undo.endUndoGrouping()
    #expect(throws: Failure.self) { try undo.undo() }
    #expect(counter.values == [] && !undo.isUndoing && undo.canRedo)
    try undo.redo()
    #expect(counter.values == [1])
  }

  /// Each action was made again by itself: a new object had lost what belongs to its insertion.
  @Test(arguments: [false, true])
  func `actions registered after removeAllActions during an undo are one group`(
    isNested: Bool
  ) throws {
    let (undo, counter) = make()
    undo.beginUndoGrouping()
    counter.add(1)
    if isNested { undo.beginUndoGrouping() }
    undo.registerUndo(withTarget: counter) { counter in
      undo.removeAllActions()
      counter.add(7)
      counter.add(8)
    }
    if isNested { try undo.endUndoGrouping() }
    try undo.endUndoGrouping()
    try undo.undo()
    #expect(counter.values == [1, 7, 8] && !undo.canUndo && undo.canRedo)
    #expect(undo.groupingLevel == 0)
    try undo.redo()
    #expect(counter.values == [1] && !undo.canRedo)
  }
}
