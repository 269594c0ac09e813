/// What a context writes into a store that a migration fills, and that no other context shares.
final class MigrationWriting {
  /// The links that ``ManagedObjectContext/flush()`` makes, until they are written.
  let links = DeferredLinks()
  /// Objects that were inserted and written already. They stay registered, and count as inserted
  /// and as no faults, until the migration ends.
  var writtenObjects: Set<ManagedObject> = []
}
