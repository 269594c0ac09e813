import QuireModel

/// Removes names and texts that refer to nothing, as long as no stored data depends on them.
///
/// Xcode keeps a configuration's member whose entity was deleted, an index over an attribute that
/// was renamed, a pattern in a dialect that only its own matcher supports. Each is left out and
/// noted. What determines values, such as a derivation or a uniqueness constraint, is never left
/// out: such a model is an error.
struct XcodeReferences {
  let lines: [String: Int]

  /// The largest number of names and texts left out of one model; it is resolved again after each.
  private static let maximumCount = 200

  func settle(
    _ model: inout ModelDeclaration, _ notes: inout [XcodeModelNote]
  ) throws(ModelError) -> ManagedObjectModel {
    var count = 0
    while true {
      do throws(ModelError) {
        return try ManagedObjectModel(model)
      } catch {
        // A part that was left out causes no second error, so this ends.
        guard count < Self.maximumCount, leaveOut(error, of: &model) else { throw error }
        count += 1
        notes.append(XcodeModelNote(line: lines[error.entity] ?? 0, "\(error): left out"))
      }
    }
  }

  /// - Returns: whether something was left out.
  private func leaveOut(_ error: ModelError, of model: inout ModelDeclaration) -> Bool {
    switch error.reason {
    case .unknownEntity(let member, in: .configuration(let name)):
      guard let index = model.configurations[name]?.firstIndex(of: member) else { return false }
      model.configurations[name]?.remove(at: index)
      return true
    case .duplicate(let place), .empty(let place, _), .invalid(let place, _),
      .unknownEntity(_, in: let place), .unknownProperty(_, in: let place),
      .unsuitableProperty(_, in: let place, _):
      return leaveOut(place, ofEntity: error.entity, of: &model)
    default: return false
    }
  }

  private func leaveOut(
    _ place: ModelError.Place, ofEntity name: String, of model: inout ModelDeclaration
  ) -> Bool {
    if case .template(let template) = place {
      guard
        let index = model.fetchRequestTemplates.lastIndex(where: { $0.name == template })
      else { return false }
      model.fetchRequestTemplates.remove(at: index)
      return true
    }
    guard let entity = model.entities.firstIndex(where: { $0.name == name }) else { return false }
    return leaveOut(place, of: &model.entities[entity])
  }

  private func leaveOut(_ place: ModelError.Place, of entity: inout Entity) -> Bool {
    switch place {
    case .index(let name):
      guard let index = entity.indexes.lastIndex(where: { $0.name == name }) else { return false }
      entity.indexes.remove(at: index)
    case .fetchedProperty(let name):
      guard let index = entity.fetchedProperties.firstIndex(where: { $0.name == name }) else {
        return false
      }
      entity.fetchedProperties.remove(at: index)
    case .limits(let name), .pattern(let name):
      guard let index = entity.attributes.firstIndex(where: { $0.name == name }) else {
        return false
      }
      let pattern = entity.attributes[index].validation.regularExpression
      if case .pattern = place {
        entity.attributes[index].validation.regularExpression = nil
      } else {
        entity.attributes[index].validation = AttributeValidation()
        entity.attributes[index].validation.regularExpression = pattern
      }
    case .uniquenessConstraint, .derivation, .template, .configuration: return false
    }
    return true
  }
}
