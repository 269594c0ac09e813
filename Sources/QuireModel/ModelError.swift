/// Why a set of declarations is not a model.
public struct ModelError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    case duplicateEntity
    case emptyName
    case unknownParent(String)
    case parentCycle
    case duplicateProperty(String)
    case unknownDestination(relationship: String, destination: String)
    case unknownInverse(relationship: String, inverse: String)
    case inverseMismatch(relationship: String, inverse: String)
    case countRange(relationship: String, minimum: Int, maximum: Int)
    case orderedToOne(relationship: String)
    case defaultType(attribute: String)
    case unknownProperty(String, in: String)
  }

  public var entity: String
  public var reason: Reason

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
        "has a relationship \(name) whose inverse \(inverse) does not lead back to it"
      case .countRange(let name, let minimum, let maximum):
        "has a relationship \(name) that wants at least \(minimum) and at most \(maximum) objects"
      case .orderedToOne(let name):
        "has a relationship \(name) that is ordered and to-one at once"
      case .defaultType(let name):
        "has an attribute \(name) whose default value is not of its type"
      case .unknownProperty(let name, let place):
        "names the property \(name) in its \(place), but has no such property"
      }
    return "entity \(entity.isEmpty ? "(without a name)" : entity) \(what)"
  }
}
