/// Why a set of declarations is not a model.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, with the names that it is about.
  public enum Reason: Hashable, Sendable {
    /// Two entities have the name.
    case duplicateEntity
    /// The entity, or a property of it, has no name.
    case emptyName
    /// The parent is no entity of the model.
    case unknownParent(String)
    /// The entity is its own ancestor.
    case parentCycle
    /// Two properties have the name, inherited ones included.
    case duplicateProperty(String)
    /// The destination is no entity of the model.
    case unknownDestination(relationship: String, destination: String)
    /// The destination has no relationship of the inverse's name.
    case unknownInverse(relationship: String, inverse: String)
    /// The inverse names another relationship as its own inverse, or refers to another entity.
    case inverseMismatch(relationship: String, inverse: String)
    /// The smallest count is above the largest, or one of them is negative.
    case countRange(relationship: String, minimum: Int, maximum: Int)
    /// The relationship is ordered and refers to one object.
    case orderedToOne(relationship: String)
    /// The default value is of another type than the attribute.
    case defaultType(attribute: String)
    /// A part of the entity names a property, by its path from the entity, that is not there.
    case unknownProperty(String, in: Place)
    /// A part of the entity names a property that cannot be there; what can be follows.
    case unsuitableProperty(String, in: Place, wanted: String)
    /// A part of the model names an entity that the model does not have.
    case unknownEntity(String, in: Place)
    /// A part is empty; what it needs follows.
    case empty(Place, wanted: String)
    /// Two parts have one name.
    case duplicate(Place)
    /// A text cannot be read, or a limit cannot be met; why follows.
    case invalid(Place, String)
    /// The model is larger or deeper than models may be; what is too large or deep follows.
    case limit(String)
    /// Models that are merged say different things; what differs follows.
    case contradiction(String)
    /// None of the models that are merged has the entity as a store has it.
    case noSuchVersion
    /// The metadata of a store, for which models are merged, have no version hashes under this key.
    case noVersionHashes(key: String)
  }

  /// The part of a model that an error is in.
  public enum Place: Hashable, Sendable, CustomStringConvertible {
    /// One of the entity's uniqueness constraints.
    case uniquenessConstraint
    /// The fetch index of that name.
    case index(String)
    /// The derivation expression of that attribute.
    case derivation(attribute: String)
    /// The smallest and largest values of that attribute.
    case limits(attribute: String)
    /// The regular expression of that attribute.
    case pattern(attribute: String)
    /// The fetched property of that name.
    case fetchedProperty(String)
    /// The fetch request of that name.
    case template(String)
    /// The configuration of that name.
    case configuration(String)

    public var description: String {
      switch self {
      case .uniquenessConstraint: "uniqueness constraint"
      case .index(let name): "index \(name)"
      case .derivation(let attribute): "derivation of the attribute \(attribute)"
      case .limits(let attribute): "limits of the attribute \(attribute)"
      case .pattern(let attribute): "pattern of the attribute \(attribute)"
      case .fetchedProperty(let name): "fetched property \(name)"
      case .template(let name): "fetch request template \(name)"
      case .configuration(let name): "configuration \(name)"
      }
    }
  }

  /// The name of the entity the error is about; empty when it is about the model.
  public var entity: String
  /// What is wrong.
  public var reason: Reason
  /// The names that could stand in place of an unknown one, in order.
  public var candidates: [String] = []

  public var description: String {
    let what =
      switch reason {
      case .duplicateEntity: "is declared twice"
      case .emptyName: "has a property without a name, or has no name itself"
      case .unknownParent(let parent): "has the parent \(parent), which the model does not have"
      case .parentCycle: "is its own ancestor"
      case .duplicateProperty(let name):
        "has two properties called \(name) (inherited ones count)"
      case .unknownDestination(let name, let destination):
        "has a relationship \(name) to \(destination), which the model does not have"
      case .unknownInverse(let name, let inverse):
        "has a relationship \(name) whose destination has no relationship \(inverse)"
      case .inverseMismatch(let name, let inverse):
        "has a relationship \(name) whose inverse \(inverse) does not refer back to it"
      case .countRange(let name, let minimum, let maximum):
        "has a relationship \(name) that wants at least \(minimum) and at most \(maximum) objects"
      case .orderedToOne(let name):
        "has a relationship \(name) that is ordered and to-one at once"
      case .defaultType(let name):
        "has an attribute \(name) whose default value is not of its type"
      case .unknownProperty(let name, let place):
        "names the property \(name) in its \(place), but there is no such property"
      case .unsuitableProperty(let name, let place, let wanted):
        "names \(name) in its \(place), which wants \(wanted)"
      case .unknownEntity(let name, let place):
        "names the entity \(name) in its \(place), but there is no such entity"
      case .empty(let place, let wanted): "has a \(place) of nothing: give it \(wanted)"
      case .duplicate(let place): "has two of the \(place): give one of them another name"
      case .invalid(let place, let message): "cannot use its \(place): \(message)"
      case .limit(let what): what
      case .contradiction(let what):
        "is not the same in all models that are merged: \(what). Merge models of which only one has "
          + "it, or those of one version"
      case .noSuchVersion:
        "is in no model that is merged as the store has it: add the version of the model that wrote "
          + "the store"
      case .noVersionHashes(let key):
        "cannot be chosen by a store's metadata that have no version hashes under \(key)"
      }
    let owner = entity.isEmpty && isAboutModel ? "the model" : "entity \(label)"
    let rest = candidates.isEmpty ? "" : "; there are \(candidates.joined(separator: ", "))"
    return "\(owner) \(what)\(rest)"
  }

  private var label: String { entity.isEmpty ? "(without a name)" : entity }

  private var isAboutModel: Bool {
    switch reason {
    case .unknownEntity, .duplicate, .contradiction, .noVersionHashes: true
    default: false
    }
  }
}
