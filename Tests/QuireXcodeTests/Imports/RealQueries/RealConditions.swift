/// Predicates about one entity of a real store, each beside the condition by which SQL finds the
/// same rows of the original.
///
/// SQL has a third truth value where Quire has two, so a condition says what Quire promises:
/// `x != 'a'` is `x IS NOT 'a'`, and `NOT p` is `p IS NOT TRUE`.
struct RealConditions: Sendable {
  var store: String
  var entity: String
  /// What follows `FROM`: the table of the entity, which is called `t`, and tables joined to it by
  /// to-one relationships.
  var tables: String
  /// Which rows of the table are of the entity.
  var scope = "TRUE"
  var pairs: [(predicate: String, condition: String)]

  static let all = artworks + folio + earlierFolio + posts + bookmarks + ranges

  /// The names of the stores that are asked.
  static let stores =
    ["oss_stubbed_data", "ArtsyPartner_1.4", "ArtsyPartner_1.3.5"]
    + ["CoreDataMigration_Example_3", "CoreDataMigration_Example_WAL", "Bookmarks_V5"]

  /// Finds the keys in the order that a fetch without sort descriptors has.
  func query(_ condition: String) -> String {
    "SELECT t.Z_PK FROM \(tables) WHERE (\(scope)) AND (\(condition)) ORDER BY t.Z_ENT, t.Z_PK"
  }
}
