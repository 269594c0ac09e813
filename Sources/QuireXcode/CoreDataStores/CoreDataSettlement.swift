import QuireModel

/// The links of all relationships, each seen from its own side.
struct CoreDataLinkTable {
  private var links: [String: CoreDataLinks] = [:]

  subscript(entity: EntityDescription, relationship: String) -> CoreDataLinks? {
    get { links["\(entity.name).\(relationship)"] }
    set { links["\(entity.name).\(relationship)"] = newValue }
  }

  /// By relationship, as in `Artwork.artist`.
  var counts: [String: Int] { links.mapValues(\.count) }
}

/// Decides which of the links that rows claim hold, so that both sides of each relationship agree.
///
/// A link holds if both its ends exist and are of entities that the relationship, and its inverse,
/// may refer to. A one-to-one relationship is claimed by both ends: what both claim holds first,
/// then what one claims while the other is free. All else is left out and reported.
struct CoreDataSettlement {
  private typealias Claim = CoreDataKeyScan.Claim

  private let model: ManagedObjectModel
  private let keys: [String: CoreDataKeys]
  private let plans: [CoreDataLinkPlan]

  init(model: ManagedObjectModel, keys: [String: CoreDataKeys], plans: [CoreDataLinkPlan]) {
    self.model = model
    self.keys = keys
    self.plans = plans
  }

  func settle(
    _ claims: [String: [CoreDataKeyScan.Claim]], _ report: inout ImportReport
  ) -> CoreDataLinkTable {
    var table = CoreDataLinkTable()
    for plan in plans {
      var links = holding(claims[plan.source.name] ?? [], of: plan, &report)
      if case .columns = plan.storage, let inverse = plan.inverse, !inverse.relationship.isToMany {
        let back = plan.isReflexive ? [] : claims[inverse.name] ?? []
        links = pairs(links, back, of: plan, &report)
      } else if plan.isReflexive {
        links = Self.symmetric(links)
      } else if case .joinTable = plan.storage {
        // A link may occur twice, if the table's primary key was removed.
        links = Self.withoutDoubles(links)
      }
      table[plan.source.entity, plan.source.relationship.name] = CoreDataLinks(
        links.map { ($0.source, $0.target, $0.position) })
      if let inverse = plan.inverse, !plan.isReflexive {
        table[inverse.entity, inverse.relationship.name] = CoreDataLinks(
          links.map { ($0.target, $0.source, $0.inversePosition) })
      }
    }
    return table
  }

  /// The claims whose two ends exist and may be linked.
  private func holding(
    _ claims: [Claim], of plan: CoreDataLinkPlan, _ report: inout ImportReport
  ) -> [Claim] {
    claims.filter { claim in
      let reason = obstacle(to: claim, of: plan)
      if let reason { report.danglingReferences.append(dangling(claim, plan.source, reason)) }
      return reason == nil
    }
  }

  private func obstacle(
    to claim: Claim, of plan: CoreDataLinkPlan
  ) -> ImportReport.DanglingReference.Reason? {
    let source = plan.source
    guard let sourceEntity = entity(of: claim.source, like: source.entity.name),
      let targetEntity = entity(of: claim.target, like: source.relationship.destination)
    else { return .missing }
    if !isKind(sourceEntity, of: source.entity.name) { return .wrongEntity(sourceEntity.name) }
    if !isKind(targetEntity, of: source.relationship.destination) {
      return .wrongEntity(targetEntity.name)
    }
    guard let inverse = plan.inverse else { return nil }
    if !isKind(targetEntity, of: inverse.entity.name) { return .wrongEntity(targetEntity.name) }
    if !isKind(sourceEntity, of: inverse.relationship.destination) {
      return .wrongEntity(sourceEntity.name)
    }
    return nil
  }

  /// The links of a one-to-one relationship, from what both of its sides claim.
  private func pairs(
    _ claims: [Claim], _ back: [Claim], of plan: CoreDataLinkPlan, _ report: inout ImportReport
  ) -> [Claim] {
    guard let inverse = plan.inverse else { return claims }
    let reversed = CoreDataLinkPlan(source: inverse, inverse: plan.source, storage: plan.storage)
    let back = holding(back, of: reversed, &report)
    var taken = Taken(isReflexive: plan.isReflexive)
    let claimedBack: [Int64: Int64] =
      plan.isReflexive
      ? .init(claims.map { ($0.source, $0.target) }, uniquingKeysWith: { old, _ in old })
      : .init(back.map { ($0.source, $0.target) }, uniquingKeysWith: { old, _ in old })
    var result: [Claim] = []
    var oneSidedCount = 0
    for claim in claims where claimedBack[claim.target] == claim.source && taken.take(claim) {
      result.append(claim)
    }
    for claim in claims where !taken.has(claim) {
      if taken.take(claim) {
        result.append(claim)
        oneSidedCount += 1
      } else {
        report.danglingReferences.append(dangling(claim, plan.source, .taken))
      }
    }
    for claim in back {
      let forward = Claim(source: claim.target, target: claim.source)
      if taken.has(forward) { continue }
      if taken.take(forward) {
        result.append(forward)
        oneSidedCount += 1
      } else {
        report.danglingReferences.append(dangling(claim, inverse, .taken))
      }
    }
    if oneSidedCount > 0 {
      report.notes.append(
        "links of \(plan.source.name) that were in the row of one side only: \(oneSidedCount)")
    }
    return plan.isReflexive ? Self.symmetric(result) : result
  }

  /// The ends of one-to-one links made so far.
  private struct Taken {
    let isReflexive: Bool
    private var targets: [Int64: Int64] = [:]
    private var sources: [Int64: Int64] = [:]

    init(isReflexive: Bool) { self.isReflexive = isReflexive }

    func has(_ claim: Claim) -> Bool { targets[claim.source] == claim.target }

    /// Records the link unless one of its ends has another; for a reflexive one, in both
    /// directions.
    mutating func take(_ claim: Claim) -> Bool {
      if has(claim) { return false }
      guard targets[claim.source] == nil, sources[claim.target] == nil else { return false }
      if isReflexive {
        guard targets[claim.target] == nil, sources[claim.source] == nil else { return false }
        targets[claim.target] = claim.source
        sources[claim.source] = claim.target
      }
      targets[claim.source] = claim.target
      sources[claim.target] = claim.source
      return true
    }
  }

  /// Every link in both directions, once.
  private static func symmetric(_ links: [Claim]) -> [Claim] {
    withoutDoubles(
      links
        + links.map {
          Claim(
            source: $0.target, target: $0.source, position: $0.inversePosition,
            inversePosition: $0.position)
        })
  }

  private static func withoutDoubles(_ links: [Claim]) -> [Claim] {
    struct Ends: Hashable { var source, target: Int64 }
    var seen: Set<Ends> = []
    return links.filter { seen.insert(Ends(source: $0.source, target: $0.target)).inserted }
  }

  private func dangling(
    _ claim: Claim, _ side: CoreDataLinkPlan.Side, _ reason: ImportReport.DanglingReference.Reason
  ) -> ImportReport.DanglingReference {
    .init(
      entity: entity(of: claim.source, like: side.entity.name)?.name ?? side.entity.name,
      key: claim.source, relationship: side.relationship.name,
      destination: side.relationship.destination, destinationKey: claim.target, reason: reason)
  }

  /// The entity of the object with this key, in the hierarchy that `name` belongs to.
  private func entity(of key: Int64, like name: String) -> EntityDescription? {
    guard let root = model.entity(named: name)?.root,
      let position = keys[root.name]?.entity(of: key)
    else { return nil }
    return model.entities[position]
  }

  private func isKind(_ entity: EntityDescription, of name: String) -> Bool {
    entity.lineage.contains { $0.name == name }
  }
}
