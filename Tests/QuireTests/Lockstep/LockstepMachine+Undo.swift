import Quire

extension LockstepMachine {
  func undo(isRedo: Bool) throws {
    // Refused while a group is open.
    guard oracle.groupDepth == 0 else { return }
    let former = oracle.objects
    replaceObjects { isRedo ? $0.redo() : $0.undo() }
    for stack in stacks {
      if isRedo { stack.context.redo() } else { stack.context.undo() }
    }
    if isRedo { try learnLeads(former) }
  }

  /// What nobody tells of a deletion leads to the object until the save, as its row does. When a
  /// deletion that was saved is made again, it leads there if a row has done so all the time, and
  /// nowhere if undo had to lead it there. Which of the two it is the oracle does not know: it asks
  /// the first stack, and the second has to agree.
  private func learnLeads(_ former: ObjectOracle) throws {
    for id in oracle.objects.living {
      guard let node = oracle.objects.nodes[id] else { continue }
      for relationship in former.relationships(of: node.entity)
      where !relationship.isToMany && former.canDangle(relationship) {
        let name = relationship.name
        guard node.links[name]?.isEmpty ?? true,
          let destination = former.nodes[id]?.links[name]?.first,
          former.nodes[destination]?.isDeleted == false,
          oracle.objects.nodes[destination]?.isDeleted == true
        else { continue }
        let object = try stacks[0].object(id, in: stacks[0].context)
        if try object.value(forKey: name) is ManagedObject {
          replaceObjects { $0.objects.arrange(id, name, [destination]) }
        }
      }
    }
  }
}
