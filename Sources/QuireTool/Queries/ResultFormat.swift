/// The format in which the rows of a result are written.
enum ResultFormat: String, CaseIterable {
  /// Columns under headings, for reading: on a terminal, long cells are cut.
  case table
  /// A line for each property of a row, whole: for rows that are wider than a line.
  case lines
  /// A JSON object on each line.
  case json
  /// Comma-separated values (RFC 4180, but with line feeds), after a line of names. An absent value
  /// is an empty field, an empty text a pair of quotes.
  case csv
}

/// A column of a result.
struct ResultColumn {
  let name: String
  /// Whether its values are numbers, whose digits end in one column of a table.
  let isNumber: Bool
}
