/// How a store of an earlier version gets to the current one, when there are mapping models or
/// several ways.
public enum MigrationRoute: String, Hashable, Sendable, CaseIterable {
  /// In as few steps as can be: in one, mostly.
  case shortest
  /// Over every version in between, in order, as the store of somebody who installed each release.
  case everyVersion
}
