import Foundation
import Quire
import QuireModel

/// Carries out the statements of scripts in a context, without saving it.
struct EditSession {
  let context: ManagedObjectContext
  private let model: ManagedObjectModel
  private var named: [String: ManagedObject] = [:]
  /// The objects that statements delete, and not delete rules.
  private(set) var deleted: Set<ManagedObject> = []
  /// Where each object was named last, for errors of the save.
  private var mentions: [ManagedObjectID: Mention] = [:]
  private var scriptNumber = -1

  /// A position in one of several scripts.
  struct Mention {
    let script: Int
    let position: EditScript.Position
  }

  init(_ context: ManagedObjectContext, _ model: ManagedObjectModel) {
    self.context = context
    self.model = model
  }

  /// - Throws: ``EditMistake``, and what reading the store throws.
  mutating func run(_ script: EditScript) throws {
    scriptNumber += 1
    for statement in script.statements {
      switch statement {
      case .insert(let entity, let name, let assignments): try insert(entity, name, assignments)
      case .set(let target, let assignments):
        for object in try objects(target) {
          mention(object, at: target.position)
          try assign(assignments, to: object)
        }
      case .delete(let targets):
        for target in targets {
          for object in try objects(target) {
            mention(object, at: target.position)
            context.delete(object)
            deleted.insert(object)
          }
        }
      }
      try context.throwKeptErrors()
    }
  }

  /// Where the object was named that an error of a save is about.
  func mention(of error: PersistenceError) -> Mention? {
    error.objectID.flatMap { mentions[$0] }
  }

  private mutating func mention(_ object: ManagedObject, at position: EditScript.Position) {
    mentions[object.objectID] = Mention(script: scriptNumber, position: position)
  }

  private mutating func insert(
    _ entityName: EditScript.Word, _ name: EditScript.Word?,
    _ assignments: [EditScript.Assignment]
  ) throws {
    let entity = try entity(entityName)
    if entity.isAbstract {
      throw EditMistake(
        position: entityName.position,
        reason: "\(entity.name) is abstract: insert an object of one of its subentities")
    }
    let object = try EntityDescription.insertNewObject(forEntityName: entity.name, into: context)
    mention(object, at: entityName.position)
    try assign(assignments, to: object)
    guard let name else { return }
    guard named.updateValue(object, forKey: name.text) == nil else {
      throw EditMistake(position: name.position, reason: "\(name.text) is another object already")
    }
  }

  // MARK: Objects

  private func entity(_ word: EditScript.Word) throws -> EntityDescription {
    do {
      return try Tool.entity(named: word.text, of: model)
    } catch {
      throw EditMistake(position: word.position, reason: "\(error)")
    }
  }

  private func objects(_ target: EditScript.Target) throws -> [ManagedObject] {
    switch target {
    case .object(let word): return [try object(word)]
    case .matches(let entity, let format):
      let entity = try self.entity(entity)
      var request = FetchRequest<ManagedObject>(entityName: entity.name)
      do {
        request.predicate = try Condition.predicate(format.text, of: entity, in: context, model)
      } catch let error as Condition.Unreadable {
        var position = format.position
        position.column += error.offset + 1
        throw EditMistake(
          position: position,
          reason: "the format cannot be read: expected \(error.expected), but found \(error.found)")
      } catch let error as InputError {
        throw EditMistake(position: format.position, reason: "\(error)")
      }
      do {
        return try context.fetch(request)
      } catch let error as PersistenceError {
        throw EditMistake(position: format.position, reason: Tool.diagnosis(of: error))
      }
    }
  }

  /// An object by its name, or a new one by that of its insertion.
  private func object(_ word: EditScript.Word) throws -> ManagedObject {
    if word.text.hasPrefix("$") {
      if let object = named[word.text] { return object }
      let hint = Suggestion.question(for: word.text, among: Array(named.keys)).map { "; \($0)" }
      throw EditMistake(
        position: word.position,
        reason: "no insertion before is called \(word.text)\(hint ?? "")")
    }
    do {
      return try ObjectName.object(word.text, in: context, model)
    } catch let error as InputError {
      throw EditMistake(position: word.position, reason: "\(error)")
    }
  }

  // MARK: Values

  private func assign(
    _ assignments: [EditScript.Assignment], to object: ManagedObject
  ) throws {
    for assignment in assignments {
      let key = assignment.key
      if let attribute = object.entity.attribute(named: key.text) {
        let value = try value(assignment, attribute)
        do {
          try object.setValue(value, forKey: key.text)
        } catch let error as PersistenceError {
          throw EditMistake(
            position: assignment.values[0].position, reason: Tool.diagnosis(of: error))
        }
      } else if let relationship = object.entity.relationship(named: key.text) {
        try link(object, relationship, assignment)
      } else {
        let names =
          object.entity.attributes.map(\.name) + object.entity.relationships.map(\.name)
        let hint =
          Suggestion.question(for: key.text, among: names)
          ?? "it has \(names.joined(separator: ", "))"
        throw EditMistake(
          position: key.position,
          reason: "\(object.entity.name) has no property \(key.text); \(hint)")
      }
    }
  }

  private func value(
    _ assignment: EditScript.Assignment, _ attribute: AttributeDescription
  ) throws -> AttributeValue? {
    guard assignment.operation == .set, assignment.values.count == 1 else {
      throw EditMistake(
        position: assignment.key.position,
        reason: "\(attribute.name) is an attribute, which has one value: \(attribute.name)=…")
    }
    let word = assignment.values[0]
    if word.text == "nil", !word.isQuoted { return nil }
    if attribute.derivationExpression != nil {
      throw EditMistake(
        position: assignment.key.position,
        reason: "\(attribute.name) is derived: each save works it out")
    }
    if let value = EditValue.value(of: word.text, for: attribute) { return value }
    throw EditMistake(
      position: word.position,
      reason: "\(attribute.name) is \(EditValue.expectation(of: attribute.type)), "
        + "not “\(word.text.cut(to: 40))”")
  }

  private func link(
    _ object: ManagedObject, _ relationship: RelationshipDescription,
    _ assignment: EditScript.Assignment
  ) throws {
    let words = assignment.values.filter { $0.text != "nil" || $0.isQuoted }
    let members = try words.map { word in
      let member = try self.object(word)
      guard
        let destination = model.entity(named: relationship.destination),
        model.family(of: destination).contains(where: { $0.name == member.entity.name })
      else {
        throw EditMistake(
          position: word.position,
          reason: "\(relationship.name) refers to \(relationship.destination), not to "
            + member.entity.name)
      }
      return member
    }
    if !relationship.isToMany {
      guard assignment.operation == .set, assignment.values.count == 1 else {
        throw EditMistake(
          position: assignment.key.position,
          reason: "\(relationship.name) refers to one object: \(relationship.name)=…")
      }
      try object.setValue(members.first, forKey: relationship.name)
    } else {
      try setMembers(of: object, relationship, assignment.operation, members)
    }
  }

  private func setMembers(
    of object: ManagedObject, _ relationship: RelationshipDescription,
    _ operation: EditScript.Operation, _ members: [ManagedObject]
  ) throws {
    let value = try object.value(forKey: relationship.name)
    if relationship.isOrdered {
      let former = value as? [ManagedObject] ?? []
      let rest = former.filter { !members.contains($0) }
      switch operation {
      case .set: try object.setValue(members, forKey: relationship.name)
      case .add: try object.setValue(rest + members, forKey: relationship.name)
      case .remove: try object.setValue(rest, forKey: relationship.name)
      }
    } else {
      let former = value as? Set<ManagedObject> ?? []
      switch operation {
      case .set: try object.setValue(Set(members), forKey: relationship.name)
      case .add: try object.setValue(former.union(members), forKey: relationship.name)
      case .remove: try object.setValue(former.subtracting(members), forKey: relationship.name)
      }
    }
  }
}
