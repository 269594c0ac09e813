import Quire
import QuireSimulation

/// A relationship with its inverse, between objects of one entity, and its delete rules.
struct LinkKind: CustomStringConvertible {
  enum Side: CaseIterable { case one, set, list }

  let left: Side
  /// `nil` where there is no inverse.
  let right: Side?
  /// Whether the relationship is its own inverse.
  let isMirrored: Bool
  let leftRule: DeleteRule
  let rightRule: DeleteRule

  init(_ random: inout SeededGenerator) {
    func any<Element>(_ choices: [Element]) -> Element { choices[random.below(choices.count)] }
    let rules: [DeleteRule] = [.nullify, .nullify, .cascade, .deny, .noAction]
    (leftRule, rightRule) = (any(rules), any(rules))
    left = any(Side.allCases)
    switch random.below(8) {
    case 0: (right, isMirrored) = (nil, false)
    case 1, 2: (right, isMirrored) = (left, true)
    default: (right, isMirrored) = (any(Side.allCases), false)
    }
  }

  var description: String {
    let back = right.map { isMirrored ? "itself" : "\($0), \(rightRule)" } ?? "none"
    return "left: \(left), \(leftRule); right: \(back)"
  }

  /// The model of this kind, made once.
  var model: ManagedObjectModel {
    get throws {
      if let model = Self.models[description] { return model }
      func relationship(
        _ name: String, _ side: Side, _ inverse: String?, _ rule: DeleteRule
      ) -> Relationship {
        switch side {
        case .one: Relationship(name, toOne: "Node", inverse: inverse, deleteRule: rule)
        case .set: Relationship(name, toMany: "Node", inverse: inverse, deleteRule: rule)
        case .list:
          Relationship(name, toMany: "Node", inverse: inverse, ordered: true, deleteRule: rule)
        }
      }
      let (left, right, isMirrored) = (left, right, isMirrored)
      let model = try ManagedObjectModel {
        Entity("Node") {
          Attribute("number", .integer64)
          relationship(
            "left", left, isMirrored ? "left" : right == nil ? nil : "right", leftRule)
          if let right, !isMirrored { relationship("right", right, "left", rightRule) }
        }
      }
      Self.models[description] = model
      return model
    }
  }

  // Sound: the suite runs one test at a time, in one isolation.
  nonisolated(unsafe) private static var models: [String: ManagedObjectModel] = [:]
}

/// One statement of a short program.
struct ShortStatement: ShrinkableOperation, CustomStringConvertible {
  enum Act: Int, CaseIterable {
    case link, unlink, linkBack, unlinkBack, reorder, setNumber, delete, insert, save, undo, redo
    case rollback, refresh, refreshAndDrop, refreshAll, read, process, forget
  }

  let context: Int
  let act: Act
  let object: Int
  let other: Int

  var simpler: [ShortStatement] { [] }

  var description: String { "context \(context): \(act) \(object) \(other)" }

  /// Of a program with so many contexts. Changes and saves are the most.
  init(_ random: inout SeededGenerator, contexts: Int) {
    context = random.below(contexts)
    let changes: [Act] = [.link, .link, .unlink, .linkBack, .unlinkBack, .delete]
    let act =
      switch random.below(10) {
      case 0...3: changes[random.below(changes.count)]
      case 4, 5: Act.save
      case 6: Act.undo
      default: Act.allCases[random.below(Act.allCases.count)]
      }
    self.act = act
    object = random.below(4)
    other = random.below(4)
  }
}

/// A few statements of several contexts about three objects of one store, and one relationship
/// between them.
final class ShortProgram {
  private static let deletedKey = ManagedObjectContext.NotificationKey.deletedObjectIDs
  private let kind: LinkKind
  private let coordinator: PersistentStoreCoordinator
  private let contexts: [ManagedObjectContext]
  var contextCount: Int { contexts.count }
  private let policies: [MergePolicyType]
  /// Whether conflicts at the end are resolved without a policy.
  private let endsByHand: Bool
  /// What each context holds, by number.
  private var held: [[Int: ManagedObject]]
  /// The IDs of stored objects, by number.
  private var identifiers: [ManagedObjectID] = []
  /// Whether what contexts show is compared after each statement.
  private let checksReading: Bool
  private(set) var saveCount = 0
  /// Printed as it grows where one seed was asked for: an assertion ends the process.
  private(set) var trace: [String] = [] {
    didSet { if Seeds.wanted?.count == 1, let line = trace.last { print(line) } }
  }

  /// - Parameter seed: decides on the relationship, the contexts and what is stored at first.
  init(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    kind = LinkKind(&random)
    coordinator = PersistentStoreCoordinator(managedObjectModel: try kind.model, classes: [])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    var contexts = [GotchaHome.context(of: coordinator), GotchaHome.context(of: coordinator)]
    if random.below(3) == 0 { contexts.append(contexts[0].newChildContext()) }
    if contexts.count == 3, random.below(2) == 0 { contexts.append(contexts[2].newChildContext()) }
    self.contexts = contexts
    held = contexts.map { _ in [:] }
    var policies: [MergePolicyType] = []
    for context in contexts {
      let policy = MergePolicyType(rawValue: random.below(MergePolicyType.allCases.count))!
      policies.append(policy)
      context.mergePolicy = MergePolicy(merge: policy)
      context.automaticallyMergesChangesFromParent = random.below(2) == 0
      if random.below(2) == 0 { context.undoManager = UndoManager() }
    }
    self.policies = policies
    endsByHand = random.below(2) == 0
    checksReading = seed % 4 == 0
    try makeObjects(&random)
  }

  private func makeObjects(_ random: inout SeededGenerator) throws {
    let first = GotchaHome.context(of: coordinator)
    let objects = try (0..<3).map { try first.insert("Node", ["number": $0]) }
    for object in objects where random.below(2) == 0 {
      let other = objects[random.below(3)]
      let (from, to) = (objects.firstIndex(of: object)!, objects.firstIndex(of: other)!)
      trace.append("stored: \(from) leads to \(to)")
      try link(object, other, "left", kind.left)
    }
    try first.save()
    identifiers = objects.map(\.objectID)
  }

  var description: String {
    "\(kind)\n"
      + contexts.enumerated().map { index, context in
        "context \(index): \(policies[index])"
          + (context.automaticallyMergesChangesFromParent ? ", merges by itself" : "")
          + (context.undoManager == nil ? "" : ", undo")
          + (index < 2 ? "" : ", child of \(index == 2 ? 0 : 2)")
      }.joined(separator: "\n")
  }

  /// Executes the statements, and saves in all contexts.
  ///
  /// - Returns: what has gone wrong; `nil` when nothing has.
  func failure(of statements: [ShortStatement]) -> String? {
    do {
      for statement in statements {
        trace.append("\(statement)")
        try attempt { try self.execute(statement) }
        try checkContext(statement.context)
        if statement.act == .save { try check() }
      }
      for (index, context) in contexts.enumerated().reversed() {
        trace.append("context \(index): save at the end")
        if endsByHand, index < 2 {
          try saveByHand(context)
        } else {
          context.mergePolicy = .mergeByPropertyObjectTrump
          try attempt { try context.save() }
        }
        try check()
      }
      try compare()
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// What a program does that has no policy: it refreshes the objects that the error names, and
  /// saves again.
  private func saveByHand(_ context: ManagedObjectContext) throws {
    context.mergePolicy = .error
    for _ in 1...4 {
      do {
        return try context.save()
      } catch let error as PersistenceError where error.code == .managedObjectMerge {
        trace.append("  refused: \("\(error)".prefix(160))")
        var deleted: [ManagedObject] = []
        for conflict in error.conflicts {
          if conflict.newVersion == 0 {
            try ManagedObjectContext.mergeChanges(
              fromRemoteContextSave: [Self.deletedKey: [conflict.objectID]], into: [context])
            continue
          }
          let object =
            try context.registeredObject(for: conflict.objectID)
            ?? context.existingObject(with: conflict.objectID)
          if object.isDeleted {
            deleted.append(object)
          } else {
            context.refresh(object, mergeChanges: true)
          }
        }
        // Their delete rules are to apply to what others have led to them.
        for object in deleted {
          context.insert(object)
          context.refresh(object, mergeChanges: true)
          context.delete(object)
        }
      } catch let error as PersistenceError {
        trace.append("  refused: \("\(error)".prefix(160))")
        return
      }
    }
    throw Broken(description: "a save is refused again after a refresh of what was in conflict")
  }

  /// Errors of the object layer are answers.
  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as PersistenceError {
      trace.append("  refused: \("\(error)".prefix(160))")
    }
  }

  private func object(_ number: Int, in index: Int) throws -> ManagedObject? {
    if let object = held[index][number], object.managedObjectContext != nil { return object }
    guard identifiers.indices.contains(number) else { return nil }
    let object = try contexts[index].existingObject(with: identifiers[number])
    held[index][number] = object
    return object
  }

  private func execute(_ statement: ShortStatement) throws {
    let (index, context) = (statement.context, contexts[statement.context])
    switch statement.act {
    case .save:
      try context.save()
      saveCount += 1
      return recordIdentifiers(of: index)
    case .undo: return try context.undoManager?.undo() ?? ()
    case .redo: return try context.undoManager?.redo() ?? ()
    case .rollback: return context.rollback()
    case .refreshAll: return context.refreshAllObjects()
    case .process: return context.processPendingChanges()
    case .forget: return held[index] = [:]
    case .insert:
      guard identifiers.count < 4, held[index][3] == nil else { return }
      held[index][3] = try context.insert("Node", ["number": 9])
      return
    default: break
    }
    guard let object = try object(statement.object, in: index) else { return }
    switch statement.act {
    case .delete: context.delete(object)
    case .setNumber: try object.setValue(statement.other, forKey: "number")
    case .refresh: context.refresh(object, mergeChanges: true)
    case .refreshAndDrop: context.refresh(object, mergeChanges: false)
    case .read:
      _ = try object.value(forKey: "number")
      _ = try object.value(forKey: "left")
    case .reorder:
      guard kind.left == .list, let list = try object.value(forKey: "left") as? [ManagedObject]
      else { return }
      try object.setValue(Array(list.reversed()), forKey: "left")
    default:
      let isBack = statement.act == .linkBack || statement.act == .unlinkBack
      guard !isBack || kind.right != nil && !kind.isMirrored,
        let other = try self.object(statement.other, in: index)
      else { return }
      let (key, side) = isBack ? ("right", kind.right!) : ("left", kind.left)
      if statement.act == .link || statement.act == .linkBack {
        try link(object, other, key, side)
      } else if side == .one {
        try object.setValue(nil, forKey: key)
      } else {
        try object.removeFromRelationship(other, forKey: key)
      }
    }
  }

  private func link(
    _ object: ManagedObject, _ other: ManagedObject, _ key: String, _ side: LinkKind.Side
  ) throws {
    if side == .one {
      try object.setValue(other, forKey: key)
    } else {
      try object.addToRelationship(other, forKey: key)
    }
  }

  /// Objects that were inserted have an ID in the store when the outermost context has saved.
  private func recordIdentifiers(of index: Int) {
    guard let object = held[index][3], identifiers.count == 3, !object.objectID.isTemporaryID
    else { return }
    identifiers.append(object.objectID)
  }

  // MARK: Checking

  private func check() throws {
    let findings = try StoreFacts(contexts[0]).findings
    if !findings.isEmpty { throw Broken(description: findings.joined(separator: "; ")) }
  }

  /// What is changed agrees with what is stored; and what a context shows, in some programs, as
  /// reading it may be what makes it agree.
  private func checkContext(_ index: Int) throws {
    let broken = contexts[index].brokenInvariants
    if !broken.isEmpty { throw Broken(description: broken.joined(separator: "; ")) }
    guard checksReading else { return }
    let objects = held[index].values.filter { $0.managedObjectContext != nil && !$0.isDeleted }
    for object in objects {
      for (key, back) in [("left", "right"), ("right", "left")]
      where object.entity.relationshipsByName[key]?.inverse == back {
        for other in objects {
          let leads = try object.objectIDs(forRelationshipNamed: key).contains(other.objectID)
          let leadsBack = try other.objectIDs(forRelationshipNamed: back).contains(object.objectID)
          if leads != leadsBack {
            throw Broken(
              description: "\(object.objectID).\(key) \(leads ? "has" : "does not have") "
                + "\(other.objectID), whose \(back) \(leadsBack ? "has" : "does not have") it")
          }
        }
      }
    }
  }

  /// Read anew, each context shows what is stored.
  private func compare() throws {
    let stored = try shown(by: GotchaHome.context(of: coordinator))
    for (index, context) in contexts.enumerated() {
      context.rollback()
      context.refreshAllObjects()
      let shown = try shown(by: context)
      if shown != stored {
        throw Broken(description: "context \(index) shows \(shown), and the store has \(stored)")
      }
    }
  }

  private func shown(by context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Node")).map { object in
      var links = try ["left", "right"].compactMap { key -> String? in
        guard object.entity.relationshipsByName[key] != nil else { return nil }
        let side = key == "left" ? kind.left : kind.right
        let ids = try object.objectIDs(forRelationshipNamed: key).map { "\($0)" }
        return "\(key): \(side == .list ? ids : ids.sorted())"
      }
      links.append("\(String(describing: try object.value(forKey: "number")))")
      return "\(object.objectID) \(links)"
    }.sorted()
  }
}

private struct Broken: Error, CustomStringConvertible {
  let description: String
}
