import Foundation
import QuireStorage

extension DumpCommand {
  /// The structures of a store that are shown instead of its objects.
  struct Structures {
    var pages = false
    var page: UInt64?
    var log = false

    var isEmpty: Bool { !pages && page == nil && !log }
  }

  /// - Returns: bad when something that was shown is damaged.
  func dumpStructures(to console: Console) throws -> ExitCode {
    // A copy has no log.
    if structures.log { return try dumpStructures(of: store, to: console) }
    return try Tool.still(store, console) { try dumpStructures(of: $0, to: console) }
  }

  private func dumpStructures(of still: URL, to console: Console) throws -> ExitCode {
    let anatomy = try Tool.working(on: store) { try StoreAnatomy(of: still.path) }
    let listing = PageListing(anatomy: anatomy)
    if let page = structures.page {
      guard page < UInt64(anatomy.shownPageCount) else {
        throw InputError("\(store.path) has no page \(page), but \(anatomy.shownPageCount) pages")
      }
      try Tool.working(on: store) { console.print(try listing.text(ofPage: Int(page))) }
    } else if structures.pages {
      try Tool.working(on: store) { try listing.write(to: console.output) }
    }
    if structures.log {
      if structures.pages || structures.page != nil { console.print("") }
      console.print(LogListing(anatomy: anatomy).text)
    }
    for finding in anatomy.findings { console.complain("\(store.path): \(finding)") }
    for note in anatomy.notes { console.note(note) }
    return anatomy.isSound ? .good : .bad
  }
}
