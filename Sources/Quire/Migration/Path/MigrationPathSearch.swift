import QuireModel
import QuireStorage

/// Searches for the steps from a store's version to the current one, by the rules of
/// ``MigrationPath``.
struct MigrationPathSearch {
  private typealias Version = VersionedModel.Version

  /// The store's version, the possible ones in between, and the current one.
  private let versions: [Version]
  private let choice: MappingChoice
  private let options: PersistentStoreOptions
  private let snapshot: Snapshot
  private let inferences: InferenceTable

  /// - Throws: ``PersistenceError/Code/migrationMissingMappingModel`` if a mapping model may be for
  ///   several pairs of versions.
  init(
    _ model: VersionedModel, _ source: VersionedModel.Version, _ options: PersistentStoreOptions,
    _ snapshot: Snapshot
  ) throws {
    let target = model.currentVersion
    // A migration to an earlier version has no versions in between.
    let hasVersionsBetween = model.isVersion(named: source.name, before: target.name)
    // The usual case needs none of them, so that they are not even loaded.
    if hasVersionsBetween, options.mappingModels.isEmpty, options.migrationRoute != .everyVersion {
      let direct = MigrationPathSearch([source, target], MappingChoice(), options, snapshot)
      if try direct.canInfer(0, 1, false, false) {
        self = direct
        return
      }
    }
    let versions =
      hasVersionsBetween
      ? model.versions(from: source.name, through: target.name) : [source, target]
    self.init(
      versions, try MappingChoice(options.mappingModels, model.versions, versions), options,
      snapshot)
  }

  private init(
    _ versions: [Version], _ choice: MappingChoice, _ options: PersistentStoreOptions,
    _ snapshot: Snapshot
  ) {
    self.versions = versions
    self.choice = choice
    self.options = options
    self.snapshot = snapshot
    inferences = InferenceTable(versions.map(\.model))
  }

  func path() throws -> MigrationPath {
    if options.migrationRoute == .everyVersion { return try everyStep() }
    if let mapping = choice.mapping(0, versions.count - 1) {
      return MigrationPath(steps: [step(0, versions.count - 1, mapping)])
    }
    // Between two versions there is only one step, whose plan has the obstacles.
    if versions.count == 2 { return try directly() }
    // Without mapping models no step can provide missing values: it is better to stop here than
    // after some steps.
    let mayBeGiven = options.mappingModels.isEmpty ? [false] : [false, true]
    // Without mapping models there are none to bypass either.
    for leaps in options.mappingModels.isEmpty ? [false] : [false, true] {
      for ignoresConditions in mayBeGiven {
        if let path = try shortest(leaps: leaps, ignoresConditions: ignoresConditions) {
          return path
        }
      }
    }
    return try directly()
  }

  /// One inferred step.
  private func directly() throws -> MigrationPath {
    let (source, target) = (versions[0], versions[versions.count - 1])
    guard options.infersMappingModel else {
      throw PersistenceError(
        .migrationMissingMappingModel,
        "the store has version \(source.name), the model \(target.name), and no mapping model leads "
          + "there: open it with the option to infer the mapping, or give mappingModels")
    }
    // Obstacles are part of its plan.
    return MigrationPath(steps: [step(0, versions.count - 1, nil)])
  }

  private func step(_ from: Int, _ to: Int, _ mapping: MappingModel?) -> MigrationPath.Step {
    MigrationPath.Step(
      source: versions[from], destination: versions[to], mappingModel: mapping, stage: nil,
      defers: options.defersLightweightMigration)
  }

  // MARK: Every version

  private func everyStep() throws -> MigrationPath {
    var steps: [MigrationPath.Step] = []
    var refusals: [String] = []
    for index in 1..<versions.count {
      let mapping = choice.mapping(index - 1, index)
      let (source, target) = (versions[index - 1], versions[index])
      let name = "step \(index) of \(versions.count - 1), \(source.name) → \(target.name)"
      guard mapping != nil || options.infersMappingModel else {
        throw PersistenceError(
          .migrationMissingMappingModel,
          "\(name): there is no mapping model: open the store with the option to infer it")
      }
      let obstacles =
        mapping == nil
        ? ModelDifference.obstacles(from: source.model, to: target.model).certain : []
      if !obstacles.isEmpty, versions.count > 2 {
        let list = obstacles.map { "\n  \($0)" }.joined()
        refusals.append("\(name): the mapping cannot be inferred:\(list)")
      }
      steps.append(step(index - 1, index, mapping))
    }
    guard refusals.isEmpty else {
      throw PersistenceError(.inferredMappingModel, refusals.joined(separator: "\n"))
    }
    return MigrationPath(steps: steps)
  }

  // MARK: The shortest

  private struct Best {
    var stepCount: Int
    var inferredCount: Int
    var previous: Int
    var mapping: MappingModel?

    func isBetter(than other: Best?) -> Bool {
      guard let other else { return true }
      return (stepCount, inferredCount) < (other.stepCount, other.inferredCount)
    }
  }

  /// - Parameters:
  ///   - leaps: whether an inferred step may bypass a mapping model.
  ///   - ignoresConditions: whether a later step may be inferred that would fail if there are
  ///     objects of certain entities then.
  private func shortest(leaps: Bool, ignoresConditions: Bool) throws -> MigrationPath? {
    let last = versions.count - 1
    // The usual case, in which not every pair of versions need be compared.
    if try canInfer(0, last, leaps, ignoresConditions) {
      return MigrationPath(steps: [step(0, last, nil)])
    }
    var best = [Best?](repeating: nil, count: versions.count)
    best[0] = Best(stepCount: 0, inferredCount: 0, previous: 0)
    for end in versions.indices.dropFirst() {
      for start in 0..<end {
        guard let before = best[start] else { continue }
        let mapping = choice.mapping(start, end)
        let candidate = Best(
          stepCount: before.stepCount + 1,
          inferredCount: before.inferredCount + (mapping == nil ? 1 : 0), previous: start,
          mapping: mapping)
        guard candidate.isBetter(than: best[end]),
          try mapping != nil || canInfer(start, end, leaps, ignoresConditions)
        else { continue }
        best[end] = candidate
      }
    }
    var steps: [MigrationPath.Step] = []
    var index = last
    while index > 0 {
      guard let found = best[index] else { return nil }
      steps.insert(step(found.previous, index, found.mapping), at: 0)
      index = found.previous
    }
    return MigrationPath(steps: steps)
  }

  private func canInfer(
    _ start: Int, _ end: Int, _ leaps: Bool, _ ignoresConditions: Bool
  ) throws -> Bool {
    guard options.infersMappingModel, leaps || !choice.hasMapping(within: start...end) else {
      return false
    }
    let obstacles = inferences.obstacles(start, end)
    guard !obstacles.isCertain else { return false }
    // For the store's own version it is known whether there are such objects.
    if start == 0 {
      return try obstacles.conditionalEntities.allSatisfy { try !hasObjects($0) }
    }
    return ignoresConditions || obstacles.conditionalEntities.isEmpty
  }

  private func hasObjects(_ entity: String) throws -> Bool {
    try inferences.hasObjects(entity) {
      guard let stored = try StoreSchema(from: snapshot)?.entity(named: entity) else {
        return false
      }
      return try snapshot.recordTree(stored.rowTree)?.count ?? 0 > 0
    }
  }
}

/// The pairs of versions between which a step can be inferred. Each is computed once, as a search
/// needs the same pair several times.
private final class InferenceTable {
  struct Obstacles {
    let isCertain: Bool
    /// The source entities whose objects would prevent the step.
    let conditionalEntities: Set<String>
  }

  private let models: [ManagedObjectModel]
  private var known: [Int: Obstacles] = [:]
  private var populated: [String: Bool] = [:]

  init(_ models: [ManagedObjectModel]) { self.models = models }

  func obstacles(_ start: Int, _ end: Int) -> Obstacles {
    let pair = start * models.count + end
    if let obstacles = known[pair] { return obstacles }
    let (certain, conditional) = ModelDifference.obstacles(from: models[start], to: models[end])
    let obstacles = Obstacles(
      isCertain: !certain.isEmpty, conditionalEntities: Set(conditional.map(\.sourceEntity)))
    known[pair] = obstacles
    return obstacles
  }

  func hasObjects(_ entity: String, _ look: () throws -> Bool) rethrows -> Bool {
    if let answer = populated[entity] { return answer }
    let answer = try look()
    populated[entity] = answer
    return answer
  }
}
