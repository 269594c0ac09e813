import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a store of an earlier version gets to the current one, when there are mapping models or
/// several ways.
public enum MigrationRoute: String, Hashable, Sendable, CaseIterable {
  /// In as few steps as can be: in one, mostly.
  case shortest
  /// Over every version in between, in order, as the store of somebody who installed each release.
  case everyVersion
}

/// The steps by which opening a store brings it to the current version.
///
/// 1. A mapping model for exactly these two versions is carried out: one step.
/// 2. Else one step is inferred, if that can be, unless it would leap over a mapping model: what
///    somebody has written between two versions is meant for every store that passes them.
/// 3. Else a chain is looked for over the versions in between, in their order, each step of which
///    has a mapping model or can be inferred. The one with the fewest steps is taken, of these the
///    one with the most mapping models.
///
/// Nothing is inferred unless the options say so. With ``MigrationRoute/everyVersion`` there is a
/// step for each version. With a ``StagedMigrationManager`` the stages say the steps.
///
/// Each step is one commit. A crash, an error or a cancellation leaves the store at the version
/// that the last whole step made; the next opening goes on from there.
///
/// ## Which mapping model fits
///
/// One fits two versions when every entity it names is there with the hash it names, and the models
/// have the checksums it names (``MappingModel/sourceVersionChecksum``). A mapping model that names
/// all entities of one pair of versions is for such pairs only. One that might be for several pairs
/// that it does not name in full is an error that asks for checksums.
public struct MigrationPath: Sendable, CustomStringConvertible {
  public enum Method: String, Hashable, Sendable {
    case inferred
    case mappingModel
    /// With the handlers of a ``CustomMigrationStage``.
    case customStage
  }

  public struct Step: Sendable, CustomStringConvertible {
    public let source: VersionedModel.Version
    public let destination: VersionedModel.Version
    /// The mapping model that is carried out; `nil` when it is inferred.
    public var mappingModel: MappingModel?
    /// The stage that the step is, or is part of.
    public var stage: (any MigrationStage)?
    /// Whether an inferred step may leave objects in their old layout.
    var defers = false

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
  /// Whether the first step begins at the model that the store carries, because no version that is
  /// known has its hashes: the model was edited in place.
  ///
  /// A migration from there that drops values makes a backup beside the store, unless the options
  /// say where (``PersistentStoreOptions/migrationBackup``).
  public internal(set) var isFromStoredModel = false

  /// The steps, a line each.
  public var description: String {
    steps.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n")
  }

  /// What opening a store with these options would do. Nothing is written.
  ///
  /// - Parameter configuration: the one that the store would be opened with.
  /// - Returns: `nil` when the store has the current version already.
  /// - Throws: what opening the store would throw before it begins.
  public static func path(
    forStoreAt url: URL, to model: VersionedModel, configuration: String? = nil,
    options: PersistentStoreOptions = .migrating
  ) throws -> MigrationPath? {
    try StoreOpening.inspecting(url) { snapshot, _ in
      try StoreOpening(
        model: model, binding: ModelBinding(model.current), options: options,
        configuration: configuration
      ).migrationPath(for: snapshot)
    }
  }
}

extension MigrationPath.Step {
  /// Whether a mapping model has to be carried out through objects.
  var needsObjects: Bool {
    guard let mappingModel else { return false }
    return !mappingModel.isInferred(from: source.model, to: destination.model)
  }

  /// What the step would do to a store in this state.
  func plan(for snapshot: Snapshot) throws -> MigrationPlan {
    guard let mappingModel, needsObjects else {
      var migration = Migration(from: source, to: destination)
      migration.defers = defers
      return try migration.plan(for: snapshot)
    }
    return try MigrationPlan(of: mappingModel, from: source, to: destination, snapshot)
  }
}
