/// A name that no model has, in the place of one that was not found: it says why.
///
/// A query that the compiler has checked cannot throw where it is written. What it asks for in vain
/// travels in its key paths, and is told by whoever looks the name up.
package enum UnfoundName {
  // No property has such a name, and no format can contain it without quotation marks.
  private static let mark = "\u{1}"

  package static func name(because reason: String) -> String { mark + reason }

  /// - Returns: `nil` for the name of a property.
  package static func reason(in name: String) -> String? {
    name.hasPrefix(mark) ? String(name.dropFirst(mark.count)) : nil
  }
}
