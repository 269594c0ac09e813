import Foundation
import QuireStorage

extension DumpCommand {
  /// The structures of a store that are shown instead of its objects.
  struct Structures {
    var pages = false
    var page: UInt64?
    var log = false

    var isEmpty: Bool { !hasPages && !log }
    var hasPages: Bool { pages || page != nil }
  }

  /// - Returns: bad when something that was shown is damaged.
  func dumpStructures(to console: Console) throws -> ExitCode {
    guard structures.log, (try? PageStore.writer(of: store.path)) != nil else {
      return try Tool.still(store, console) { try dumpStructures(of: $0, to: console) }
    }
    // A copy has no log. Pages, if they are wanted too, are of a commit that is not earlier.
    let live = try Tool.working(on: store) { try LiveLog(of: store.path) }
    var code = ExitCode.good
    if structures.hasPages {
      code = try Tool.still(store, console) { still in
        let anatomy = try Tool.working(on: store) { try StoreAnatomy(of: still.path) }
        try dumpPages(anatomy, to: console)
        complain(anatomy.findings, anatomy.notes, console)
        return anatomy.isSound ? .good : .bad
      }
      console.print("")
    }
    console.print(LogListing(log: live.log, path: live.path).text)
    complain(live.findings, [], console)
    console.note("\(store.path) is being written to: this is its log as of commit \(live.commit)")
    return live.findings.isEmpty ? code : .bad
  }

  private func dumpStructures(of still: URL, to console: Console) throws -> ExitCode {
    let anatomy = try Tool.working(on: store) { try StoreAnatomy(of: still.path) }
    try dumpPages(anatomy, to: console)
    if structures.log {
      if structures.hasPages { console.print("") }
      console.print(LogListing(log: anatomy.log, path: anatomy.logPath).text)
    }
    complain(anatomy.findings, anatomy.notes, console)
    return anatomy.isSound ? .good : .bad
  }

  private func dumpPages(_ anatomy: StoreAnatomy, to console: Console) throws {
    let listing = PageListing(anatomy: anatomy)
    if let page = structures.page {
      guard page < UInt64(anatomy.shownPageCount) else {
        throw InputError("\(store.path) has no page \(page), but \(anatomy.shownPageCount) pages")
      }
      try Tool.working(on: store) { console.print(try listing.text(ofPage: Int(page))) }
    } else if structures.pages {
      try Tool.working(on: store) { try listing.write(to: console.output) }
    }
  }

  private func complain(
    _ findings: [StoreAnatomy.Finding], _ notes: [String], _ console: Console
  ) {
    for finding in findings { console.complain("\(store.path): \(finding)") }
    for note in notes { console.note(note) }
  }
}
