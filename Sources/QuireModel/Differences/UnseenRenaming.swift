/// A renaming that the new model states and that nothing else shows: both names were there before,
/// and version hashes contain no renaming identifiers, so that the two versions are taken for one.
///
/// Two properties that change their names with each other are the usual case. Core Data opens such
/// a store as it is, and every value appears under the other name.
package struct UnseenRenaming {
  package let entityName: String
  /// `nil` where the entity itself has the new name.
  package let propertyName: String?
  /// The name that it had in the former model.
  package let formerName: String

  package var name: String { propertyName.map { "\(entityName).\($0)" } ?? entityName }
}

extension ManagedObjectModel {
  /// What this model says was renamed since a former one with the same hashes, which did not say
  /// it. What the former one said as well has been done.
  ///
  /// - Complexity: O(entities + properties).
  package func unseenRenamings(since former: ManagedObjectModel) -> [UnseenRenaming] {
    var renamings = RenamingMatch(former.entities, entities, byNameOnly: false)
      .newNames(former.entities, entities)
      .map { UnseenRenaming(entityName: $0.new, propertyName: nil, formerName: $0.former) }
    for entity in entities {
      guard let old = former.entity(named: entity.name) else { continue }
      let names =
        Self.attributeNames(old.attributes, entity.attributes, in: "")
        + RenamingMatch(old.relationships, entity.relationships, byNameOnly: false)
        .newNames(old.relationships, entity.relationships)
      // What a subentity inherits is its parent's to say.
      renamings += names.filter { !entity.inherits($0.new) }.map {
        UnseenRenaming(entityName: entity.name, propertyName: $0.new, formerName: $0.former)
      }
    }
    return renamings
  }

  /// Of attributes, and of the elements of composites.
  private static func attributeNames(
    _ old: [AttributeDescription], _ new: [AttributeDescription], in path: String
  ) -> [(former: String, new: String)] {
    var names = RenamingMatch(old, new, byNameOnly: false).newNames(old, new)
      .map { (former: path + $0.former, new: path + $0.new) }
    for attribute in new where !attribute.elements.isEmpty {
      guard let former = old.first(where: { $0.name == attribute.name }) else { continue }
      names += attributeNames(
        former.elements, attribute.elements, in: "\(path)\(attribute.name).")
    }
    return names
  }
}

extension EntityDescription {
  fileprivate func inherits(_ path: String) -> Bool {
    let name = String(path.prefix { $0 != "." })
    return parent?.attribute(named: name) != nil || parent?.relationship(named: name) != nil
  }
}

extension RenamingMatch {
  /// What has another name by an identifier that the former thing of that name did not give.
  fileprivate func newNames<Thing: Renamable>(
    _ former: [Thing], _ new: [Thing]
  ) -> [(former: String, new: String)] {
    new.indices.compactMap { index in
      guard let source = source(ofDestination: index), former[source].name != new[index].name,
        let identifier = new[index].givenIdentifier,
        former.first(where: { $0.name == new[index].name })?.givenIdentifier != identifier
      else { return nil }
      return (former[source].name, new[index].name)
    }
  }
}
