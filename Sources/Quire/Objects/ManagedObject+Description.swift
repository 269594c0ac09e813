import QuireModel

extension ManagedObject: CustomStringConvertible {}

extension ManagedObject {
  /// The object's class, entity, ID, state and values, for debugging.
  ///
  /// ```
  /// Painting (entity: Artwork; id: Artwork/p12; state: updated; data: {
  ///   artist = Artist/p3
  ///   price = 1200
  ///   title = "The Great Wave"
  ///   visits = <fault>
  /// })
  /// ```
  ///
  /// Nothing is read for it: a fault stays one and says `data: <fault>`; so do a to-many
  /// relationship, but for what was added to it and removed from it, and values outside of their
  /// rows. Long texts are cut.
  public final var fullDescription: String {
    let head = "\(type(of: self)) (entity: \(entity.name); id: \(objectID); state: \(stateWords)"
    if isUnread { return "\(head); data: <fault>)" }
    let lines = binding.properties.indices.map { slot in
      (name: binding.name(of: slot), text: describedContent(of: slot))
    }
    .sorted { $0.name < $1.name }
    .map { "  \($0.name) = \($0.text)\n" }
    return "\(head); data: {\n\(lines.joined())})"
  }

  /// Class and ID, for a line of a message.
  final var briefDescription: String { "\(type(of: self)) \(objectID)" }

  private var stateWords: String {
    let change =
      isDeleted ? "deleted" : isInserted ? "inserted" : isUpdated ? "updated" : "unchanged"
    return managedObjectContext == nil ? "without a context" : change
  }

  private func describedContent(of slot: Int) -> String {
    if !slots.isEmpty {
      switch slots[slot] {
      case .unchanged: break
      case .value(let value): return Self.described(value)
      case .one(let destination): return destination.map { "\($0.objectID)" } ?? "nil"
      case .many(let members): return described(members)
      }
    }
    let trait = binding.traits[slot]
    if trait.attributeType == nil {
      return trait.isToMany ? describedStoredMembers : describedDestination(slot)
    }
    guard let row, let field = storage?.fieldBySlot[slot], field >= 0 else { return "nil" }
    if row.hasExternal, row.external(field) != nil { return "<fault>" }
    do {
      return Self.described(try storedValue(slot))
    } catch {
      return "<unreadable: \(error)>"
    }
  }

  /// The text for a to-many relationship without changes, whose stored members are not read.
  private var describedStoredMembers: String { isPersistent ? "<fault>" : "[]" }

  private func described(_ members: PendingMembers) -> String {
    if let order = members.order { return "\(order.map(\.objectID))" }
    let added = members.added.map { "\($0.objectID)" }.sorted()
    if !isPersistent { return "[\(added.joined(separator: ", "))]" }
    var parts = ["<fault>"]
    if !added.isEmpty { parts.append("with [\(added.joined(separator: ", "))]") }
    if !members.removed.isEmpty { parts.append("without \(members.removed.count) objects") }
    return parts.joined(separator: " ")
  }

  private func describedDestination(_ slot: Int) -> String {
    guard let reference = storedReference(slot) else { return "nil" }
    return ofArena { $0.destinationID(at: reference) }.map { "\($0)" } ?? "<fault>"
  }

  private static func described(_ value: AttributeValue?) -> String {
    guard let value else { return "nil" }
    let text = "\(value)"
    let limit = 400
    guard text.utf8.count > limit else { return text }
    return "\(text.prefix(limit))… (\(text.count) characters)"
  }
}
