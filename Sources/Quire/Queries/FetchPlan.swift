import QuireModel
import QuireStorage

/// How a fetch finds the rows that may match its predicate.
///
/// The predicate is evaluated on every row found, so that the result, order included, does not
/// depend on the plan. There are three kinds:
///
/// - Candidates, if they are at most a quarter of the rows: the objects that the predicate names,
///   the keys of an index in the ranges that it allows, the links that refer back from objects in
///   its conditions, and unions and intersections of these (``CandidateSearch``). They are visited
///   in the order of the rows.
/// - An index in the order of the request, if the request has a limit: the walk ends when enough
///   rows match. If too many rows do not match, it is given up for candidates or all rows.
/// - All rows in sequence: reading a row in sequence costs much less than looking one up.
package struct FetchPlan: CustomStringConvertible {
  enum Access {
    case scan
    /// Rows in order, each once.
    case candidates([Reference], RowSource)
    case walk(IndexWalk)
    /// The answer of an incremental store.
    case answer(IncrementalRows.Answer, IncrementalRows)
  }

  let access: Access
  let entityName: String

  /// Whether rows come in the order of the request's sort keys.
  var isSorted: Bool {
    if case .answer(let answer, _) = access { answer.handled.contains(.order) } else { false }
  }

  /// Whether rows are visited in the order of an index, at least until that is given up.
  var isWalk: Bool { if case .walk = access { true } else { false } }

  package var description: String {
    switch access {
    case .answer(let answer, _): "\(answer.references.count) rows that the store names"
    case .scan: "all rows of \(entityName)"
    case .candidates(let rows, .names): "\(rows.count) rows that the predicate names"
    case .candidates(let rows, let source): "\(source), \(rows.count) candidates"
    case .walk(let walk):
      "index \(walk.search.index.stored.title) in \(walk.isReversed ? "reverse " : "")order"
    }
  }
}

/// A walk through an index in the order of a request.
struct IndexWalk {
  let search: IndexSearch
  let range: KeyRange
  let isReversed: Bool
  /// The number of leading elements that decide the order: keys equal in them come in any order.
  let groupElementCount: Int
  /// The number of matches after which the walk ends, with the last group complete.
  let capacity: Int
  /// The number of rows that may be looked up before the walk is given up.
  var rowLimit: Int
  /// The source of candidates if the walk is given up; `nil` to read all rows instead.
  var fallback: RowSource?
}
