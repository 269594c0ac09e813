import QuireModel
import QuireStorage

/// How a fetch finds the rows of which its predicate may be true.
///
/// Whatever the plan, the predicate is evaluated on every row that it leads to, and the result is
/// the same, order included. What there is to choose from:
///
/// - Candidates, as long as they are not more than a quarter of the rows: the objects that the
///   predicate names, the keys of an index in the ranges that it allows, the links that lead back
///   from objects which it is about, and unions and intersections of these
///   (``CandidateSearch``). They are visited in the order of the rows.
/// - An index in the order of the request, when the request has a limit: the walk ends with the
///   first rows. If it meets too many rows of which the predicate is not true, it is given up for
///   candidates or all rows.
/// - All rows, one after the other: a row that is read in passing costs much less than one that is
///   looked up.
package struct FetchPlan: CustomStringConvertible {
  enum Access {
    case scan
    /// Rows in order, each once.
    case candidates([Reference], RowSource)
    case walk(IndexWalk)
    /// What a store of another make has answered.
    case answer(IncrementalRows.Answer, IncrementalRows)
  }

  let access: Access
  let entityName: String

  /// Whether rows come in the order of the request's sort keys.
  var isSorted: Bool {
    if case .answer(let answer, _) = access { answer.handled.contains(.order) } else { false }
  }

  /// Whether rows are visited in the order of an index, as long as that is not given up.
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
  /// The elements that decide the order: keys that are equal in them come in any order.
  let groupElementCount: Int
  /// How many matches are enough, when all of their group were met.
  let capacity: Int
  /// How many rows may be looked up before the walk is given up.
  var rowLimit: Int
  /// Where candidates are if it is given up; `nil` to read all rows then.
  var fallback: RowSource?
}
