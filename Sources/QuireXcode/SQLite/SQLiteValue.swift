import Foundation

/// A value of a column, by the class in which it is stored.
package enum SQLiteValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
}

extension SQLiteValue: CustomStringConvertible {
  /// For reports: long values are cut.
  package var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): "“\(value.prefix(40))\(value.count > 40 ? "…" : "")”"
    case .blob(let value): "\(value.count) bytes"
    }
  }
}
