import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension FetchExplanation: CustomStringConvertible {
  public var description: String {
    var lines = [heading]
    for search in searches {
      if searches.count > 1 { lines.append("store \(search.storeIdentifier)") }
      lines += search.lines(sortDescriptors)
    }
    lines.append(FetchExplanation.count(objectCount, "object"))
    return lines.joined(separator: "\n")
  }

  private var heading: String {
    var text = entityName
    if let predicate { text += " where \(predicate.shortDescription)" }
    if !sortDescriptors.isEmpty {
      text += ", by \(sortDescriptors.map(\.description).joined(separator: ", "))"
    }
    if fetchLimit > 0 { text += ", at most \(fetchLimit)" }
    if fetchOffset > 0 { text += ", without the first \(fetchOffset)" }
    return text
  }

  fileprivate static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

extension FetchExplanation.Search {
  fileprivate func lines(_ sortDescriptors: [FetchSortDescriptor]) -> [String] {
    var lines = source.lines(depth: 1)
    if abandonedRowCount > 0 {
      lines.append("  given up after \(abandonedRowCount) rows")
    }
    if let filter { lines.append("  filter on rows: \(filter.shortDescription)") }
    switch order {
    case .none: break
    case .source: lines.append("  order: that of the index")
    case .sort(let kept):
      let keys = sortDescriptors.map(\.description).joined(separator: ", ")
      lines.append("  sort: \(keys)" + (kept.map { ", keeping the first \($0)" } ?? ""))
    }
    var numbers =
      "\(FetchExplanation.count(rowCount, "row")) read, about \(expectedRowCount) expected"
    if unsavedObjectCount > 0 {
      numbers += "; \(FetchExplanation.count(unsavedObjectCount, "unsaved object")) asked"
    }
    numbers += "; \(matchCount) \(matchCount == 1 ? "matches" : "match")"
    numbers += ", about \(expectedMatchCount) expected"
    if endedEarly { numbers += "; ended with the last that is wanted" }
    lines.append("  " + numbers)
    if isCountedByKeys { lines.append("  a count reads keys alone") }
    return lines
  }
}

extension FetchExplanation.Source {
  /// The line of the source, and those of its parts, indented further.
  fileprivate func lines(depth: Int) -> [String] {
    var text = String(repeating: "  ", count: depth) + name
    if !conditions.isEmpty {
      text += " where \(conditions.map(\.shortDescription).joined(separator: " AND "))"
    }
    text += ": \(FetchExplanation.count(rowCount, "row")), about \(expectedRowCount) expected"
    return [text] + parts.flatMap { $0.lines(depth: depth + 1) }
  }

  private var name: String {
    switch kind {
    case .allRows(let names): "all rows of \(names.joined(separator: ", "))"
    case .index(let name): "index \(name)"
    case .indexOrder(let name, let isReversed):
      "index \(name) in \(isReversed ? "reverse " : "")order"
    case .namedObjects: "objects that the predicate names"
    case .links(let relationship): "links of \(relationship)"
    case .union: "union"
    case .intersection: "intersection"
    case .otherStore: "rows that the store names"
    }
  }
}

extension FetchPredicate {
  /// The predicate as a format string, cut off after 400 characters.
  /// The beginning of the predicate as a format, with dates by the calendar.
  fileprivate var shortDescription: String {
    // In a text of the predicate's own, quotes have a backslash before them.
    let text = description.replacing(/CAST\("([0-9.e+-]+)", "Date"\)/) { match in
      let seconds = Double(match.1).map { Date(timeIntervalSinceReferenceDate: $0) }
      return seconds.flatMap(MomentText.text).map { "CAST(\"\($0)\", \"Date\")" }
        ?? String(match.0)
    }
    return text.count <= 400 ? text : "\(text.prefix(400))…"
  }
}
