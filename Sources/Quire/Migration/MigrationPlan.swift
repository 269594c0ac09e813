import QuireModel

/// What a migration will do, or did: entity by entity, with the number of objects each step
/// touches.
///
/// A plan is made from two models and the store itself, before anything is changed. It prints.
public struct MigrationPlan: Sendable {
  public enum Action: String, Sendable {
    /// Not a byte of the entity's objects is touched.
    case kept
    /// Every object is written anew in the new layout.
    case rewritten
    /// The entity is new: it has no objects.
    case added
    /// The entity goes, with its objects.
    case removed
  }

  public struct EntityStep: Sendable {
    /// The entity's name in the new model; in the old one when it is removed.
    public let name: String
    /// The entity's name in the old model; `nil` when it is added.
    public let sourceName: String?
    public let action: Action
    public let objectCount: Int
    public let addedProperties: [String]
    public let removedProperties: [String]
    public let renamedProperties: [(from: String, to: String)]

    public var isRenamed: Bool { sourceName.map { $0 != name } ?? false }
  }

  /// A relationship whose links are written anew.
  public struct RelationshipStep: Sendable {
    public let entityName: String
    public let name: String
    public let linkCount: Int
  }

  public let sourceVersion: String
  public let destinationVersion: String
  public let entities: [EntityStep]
  public let relationships: [RelationshipStep]

  public func entities(_ action: Action) -> [EntityStep] { entities.filter { $0.action == action } }

  /// How many objects are written anew.
  public var rewrittenObjectCount: Int { entities(.rewritten).reduce(0) { $0 + $1.objectCount } }
}

extension MigrationPlan: CustomStringConvertible {
  public var description: String {
    var lines = ["from \(sourceVersion) to \(destinationVersion)"]
    for step in entities {
      var line = "  \(step.action.rawValue.padded(to: 9)) \(step.name)"
      if let source = step.sourceName, step.isRenamed { line += " (was \(source))" }
      if step.action != .added {
        line += ", \(step.objectCount) \(step.objectCount == 1 ? "object" : "objects")"
      }
      if step.action == .kept || step.action == .rewritten {
        if !step.addedProperties.isEmpty {
          line += "; adds \(step.addedProperties.joined(separator: ", "))"
        }
        if !step.removedProperties.isEmpty {
          line += "; drops \(step.removedProperties.joined(separator: ", "))"
        }
        for renamed in step.renamedProperties { line += "; \(renamed.from) becomes \(renamed.to)" }
      }
      lines.append(line)
    }
    for step in relationships {
      lines.append(
        "  relinked  \(step.entityName).\(step.name), \(step.linkCount) \(step.linkCount == 1 ? "link" : "links")"
      )
    }
    return lines.joined(separator: "\n")
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

/// A migration that has happened.
public struct MigrationReport: Sendable, CustomStringConvertible {
  public let plan: MigrationPlan
  /// From the first look at the models to the durable commit.
  public let duration: Duration

  public var description: String { "migrated \(plan) in \(duration)" }
}
