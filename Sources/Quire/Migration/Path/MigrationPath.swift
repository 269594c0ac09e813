import QuireModel
import QuireStorage

/// The steps by which opening a store brings it to the current version.
///
/// 1. A mapping model for exactly these two versions is executed: one step.
/// 2. Otherwise one step is inferred, if possible, unless it would bypass a mapping model: a custom
///    mapping between two versions applies to every store that passes them.
/// 3. Otherwise a chain over the versions in between is searched for, in their order, each step of
///    which has a mapping model or can be inferred. Among the chains with the fewest steps, the one
///    with the most mapping models is chosen.
///
/// Nothing is inferred unless the options allow it. With ``MigrationRoute/everyVersion`` there is a
/// step for each version. With a ``StagedMigrationManager`` the stages determine the steps.
///
/// Each step is one commit. After a crash, an error or a cancellation the store has the version of
/// the last completed step, from which the next opening continues.
///
/// ## Choice of mapping models
///
/// A mapping model fits two versions if every entity in it exists with the hash in it, and the
/// models have its checksums (``MappingModel/sourceVersionChecksum``). A mapping model that names
/// all entities of a pair of versions is used for such pairs only. One that may fit several pairs,
/// without naming all entities of any, is an error that asks for checksums.
public struct MigrationPath: Sendable, CustomStringConvertible {
  /// By what a step is carried out.
  public enum Method: String, Hashable, Sendable {
    /// By a mapping that is inferred from the two models.
    case inferred
    /// By a mapping model that was written by hand.
    case mappingModel
    /// A mapping with the handlers of a ``CustomMigrationStage``.
    case customStage
  }

  /// One migration: from a version of the model to another.
  public struct Step: Sendable, CustomStringConvertible {
    /// The version that the step begins with.
    public let source: VersionedModel.Version
    /// The version that the step makes.
    public let destination: VersionedModel.Version
    /// The mapping model that is executed; `nil` if the mapping is inferred.
    public var mappingModel: MappingModel?
    /// The stage to which the step belongs.
    public var stage: (any MigrationStage)?
    /// Whether an inferred step may leave objects in their old layout.
    var defers = false

    /// By what the step is carried out.
    public var method: Method {
      stage is CustomMigrationStage ? .customStage : mappingModel == nil ? .inferred : .mappingModel
    }

    public var description: String {
      let means =
        switch method {
        case .inferred: "inferred"
        case .mappingModel: "by a mapping model"
        case .customStage: "by a custom stage"
        }
      let label = stage?.label.map { " “\($0)”" } ?? ""
      return "\(source.name) → \(destination.name), \(means)\(label)"
    }
  }

  /// In their order; never empty.
  public let steps: [Step]
  /// Whether the first step starts from the model in the store, because no known version has its
  /// hashes: the model was edited without adding a version.
  ///
  /// If such a migration drops values, it makes a backup beside the store, unless the options give
  /// another location (``PersistentStoreOptions/migrationBackup``).
  public internal(set) var isFromStoredModel = false

  /// The steps, one on each line.
  public var description: String {
    steps.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n")
  }
}

extension MigrationPath.Step {
  /// Whether a mapping model must be executed with objects.
  var needsObjects: Bool {
    guard let mappingModel else { return false }
    return !mappingModel.isInferred(from: source.model, to: destination.model)
  }

  /// The plan of the step for a store in this state.
  func plan(for snapshot: Snapshot) throws -> MigrationPlan {
    guard let mappingModel, needsObjects else {
      var migration = Migration(from: source, to: destination)
      migration.defers = defers
      return try migration.plan(for: snapshot)
    }
    return try MigrationPlan(of: mappingModel, from: source, to: destination, snapshot)
  }
}
