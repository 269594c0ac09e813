import QuireModel

// What must hold of a context whenever the program has its turn:
//
// 1. An object with changes belongs to the context, is registered under its reference, and is in
//    the one list that its state names, at the position that it stores.
// 2. Both ends of a relationship that was changed agree: an object that one end refers to refers
//    back, by its own change, or by what the store has for it. (Unless the program has set one end
//    alone, by a primitive value.)
//
// Debug builds assert this when an operation ends, where few objects have changes; random walks ask
// after each of their steps.
extension ManagedObjectContext {
  /// Up to how many changed objects are looked at when an operation ends.
  private static var assertedCount: Int { 32 }

  /// Asserts in debug builds that the context is sound.
  final func assertInvariants() {
    assert(
      {
        guard changes.count <= Self.assertedCount else { return true }
        // What a parent or a store of another make has is asked for in walks alone: it can fail.
        let isAsked = parent == nil && sessions.allSatisfy { $0.view?.isPlain ?? false }
        let broken = isAsked ? brokenInvariants : brokenLists
        if !broken.isEmpty { print(broken.joined(separator: "\n")) }
        return broken.isEmpty
      }(), "the context is not sound")
  }

  /// What does not hold of the context, in words; empty in a sound one.
  ///
  /// - Complexity: O(changes), with a look-up in the store for each changed relationship.
  package final var brokenInvariants: [String] {
    if changes.hasOneSidedChanges { return brokenLists }
    return brokenLists + changes.objects.filter { !$0.isDeleted }.flatMap(brokenLinks)
  }

  // MARK: 1. Lists

  private var brokenLists: [String] {
    var broken: [String] = []
    func look(_ list: ObjectList, _ change: PendingChange) {
      for object in list.objects {
        func report(_ text: String) { broken.append("\(object.briefDescription) \(text)") }
        if object.context !== self { report("has changes in a context that it does not belong to") }
        if object.pendingChange != change {
          report("is in the list of another change than its own")
        }
        if !list.contains(object) { report("does not know its position among the changes") }
        if object.session.map({ $0.registered(object.reference) !== object }) ?? false {
          report("is not registered under its reference")
        }
      }
    }
    look(changes.inserted, .insertion)
    look(changes.updated, .update)
    look(changes.deleted, .deletion)
    return broken
  }

  // MARK: 2. Links

  private func brokenLinks(of object: ManagedObject) -> [String] {
    guard object.hasSlots else { return [] }
    var broken: [String] = []
    for slot in object.binding.storedRelationshipSlots {
      let name = object.binding.name(of: slot)
      func look(_ other: ManagedObject?) {
        guard let other, other.context === self, !other.isDeleted,
          let inverse = object.inverseSlot(of: slot, on: other),
          !other.binding.traits[inverse].isTransient
        else { return }
        do {
          if try other.showsLink(to: object, inverse) { return }
          broken.append(
            "\(object.briefDescription).\(name) refers to \(other.briefDescription), which does not "
              + "refer back")
        } catch {
          // What cannot be read is reported by those who read it.
        }
      }
      switch object.slots[slot] {
      case .unchanged, .value: continue
      case .one(let destination): look(destination)
      case .many(let pending):
        for member in pending.added where (try? object.showsLink(to: member, slot)) == true {
          look(member)
        }
      }
    }
    return broken
  }
}

extension ManagedObject {
  /// Whether a slot shows an object, or would if none were deleted. Makes no object and reads no
  /// row into one: a hook could change what is being checked.
  fileprivate final func showsLink(to object: ManagedObject, _ slot: Int) throws -> Bool {
    if isToMany(slot) {
      if ofArena({ $0.membersHaveMoved }) {
        return try shownReferences(slot).contains(object.reference)
      }
      return try holds(object, slot)
    }
    if hasSlots, case .one(let destination) = slots[slot] { return destination === object }
    if hasRow { return storedReference(slot) == object.reference }
    guard let field = storage?.fieldBySlot[slot], field >= 0 else { return false }
    return try session?.view?.row(reference)?.reference(field) == object.reference
  }
}
