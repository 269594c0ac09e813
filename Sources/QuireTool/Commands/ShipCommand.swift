import Foundation
import Quire
import QuireModel
import QuireStorage
import Synchronization

/// `quire ship`: ships the commits of a store to a folder, or shows what is there.
struct ShipCommand: Command {
  static let syntax = CommandSyntax(
    name: "ship", summary: "a store's commits in a folder, for restoring any moment",
    group: .files,
    operands: [.init("STORE", "the store's file, which programs may be using")],
    options: [
      .init("to", "FOLDER", "the folder, on another disk best; it is made", isRequired: true),
      .init(flag: "once", "ship what there is, and end"),
      .init(flag: "status", "show what the folder has, and ship nothing"),
      .init("every", "SECONDS", "how often to write to the folder; 1 unless given"),
      .init(
        "keep", "DAYS", "how far back a moment can be restored at least; for ever unless given"),
      .json,
    ],
    discussion: """
      Ships commits as they are made, until it is ended, by Ctrl-C for example; started again, it
      goes on. The store is only read, without a lock. Commits that were gone before they could be
      shipped are told of: what differs is shipped as one commit, or all of it as a new base.
      quire restore --from brings any moment back.
      """,
    examples: [
      .init(
        "What was committed until now, and what the folder has",
        "quire ship gallery.quire --to shipped --once && quire ship gallery.quire --to shipped --status"
      )
    ])

  private let store: URL
  private let folder: URL
  private let isOnce: Bool
  private let isStatus: Bool
  private let isJSON: Bool
  private var options = StoreShipping.Options()

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    folder = URL(filePath: arguments.requiredValue(of: "to"))
    isOnce = arguments.has(flag: "once")
    isStatus = arguments.has(flag: "status")
    isJSON = arguments.has(flag: "json")
    func number(_ name: String, atLeast least: Double, _ unit: String) throws(UsageError) -> Double?
    {
      guard let text = arguments.value(of: name) else { return nil }
      guard let number = Double(text), number >= least, number < 1e6 else {
        throw UsageError(
          "--\(name) is a number of \(unit), not “\(text)”.", usage: Self.syntax.usage)
      }
      return number
    }
    if let seconds = try number("every", atLeast: 0.05, "seconds, 0.05 at least") {
      options.interval = .seconds(seconds)
    }
    if let days = try number("keep", atLeast: 0, "days") {
      options.retention = .seconds(days * 86_400)
      // What is kept is removed a generation at a time.
      options.baseInterval = min(options.baseInterval, .seconds(max(60, days * 86_400 / 4)))
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    if isStatus { return try showStatus(console) }
    guard FileManager.default.fileExists(atPath: store.path) else {
      throw StorageError.notFound(path: store.path)
    }
    let events = Events()
    let shipping = try StoreShipping(of: store, to: folder, options: options) { events.add($0) }
    let shipped = try console.task("shipping", .parts) { _ in
      let shipped = try Tool.working(on: store) { try shipping.ship() }
      events.tell(console)
      if isOnce { return shipped }
      console.note("\(store.path) is shipped to \(folder.path), from commit \(shipped.commit) on")
      return try Tool.working(on: store) {
        try shipping.run {
          events.tell(console)
          return Interruption.code == nil
        }
      }
    }
    if isJSON {
      console.print([
        "store": .string(store.path), "folder": .string(folder.path),
        "commit": JSONValue(Int(clamping: shipped.commit)),
      ])
    } else {
      console.print("\(store.path) is in \(folder.path) up to commit \(shipped.commit).")
    }
    return .good
  }

  /// What is not as usual, until it is told by the thread that has the console.
  private final class Events: Sendable {
    private let list = Mutex([StoreShipping.Event]())

    func add(_ event: StoreShipping.Event) { list.withLock { $0.append(event) } }

    func tell(_ console: Console) {
      let events = list.withLock { list in
        defer { list = [] }
        return list
      }
      for event in events {
        // Everything begins once.
        if case .began(1, _, _) = event { continue }
        console.note("\(event)")
      }
    }
  }

  // MARK: Status

  private func showStatus(_ console: Console) throws -> ExitCode {
    let generations = try StoreShipping.generations(in: folder)
    // Where the store is by now, if it can be read.
    let newest = try? newestCommit()
    let last = generations.last?.last
    let lag = newest.flatMap { newest in last.map { newest >= $0.commit ? newest - $0.commit : 0 } }
    let isWhole = generations.last.map { $0.defect == nil } ?? false
    if isJSON {
      console.print([
        "store": .string(store.path), "folder": .string(folder.path),
        "commitsBehind": lag.map { JSONValue(Int(clamping: $0)) } ?? .null,
        "generations": .array(generations.map(Self.json)),
      ])
      return isWhole ? .good : .bad
    }
    guard !generations.isEmpty else {
      console.print("\(folder.path) has no commits of a store.")
      return .bad
    }
    var grid = Grid([
      ("generation", .right), ("commits", .left), ("from", .left), ("to", .left),
      ("missing", .right), ("files", .right), ("bytes", .right), ("follows", .left),
    ])
    for generation in generations {
      let (first, last) = (generation.first, generation.last)
      grid.add(
        "\(generation.number)", "\(first.commit) to \(last.commit)", Self.text(first.date),
        Self.text(last.date), generation.missingCommitCount.grouped,
        (generation.segmentCount + 1).grouped, generation.byteCount.grouped,
        generation.isContinued ? "without a gap" : generation.number == 1 ? "" : "a gap")
    }
    console.print(grid)
    for generation in generations {
      if let defect = generation.defect { console.complain(defect) }
    }
    if let lag {
      console.print(
        lag == 0
          ? "Nothing was committed since."
          : "\(Int(clamping: lag).counting("commit")) since are not there yet.")
    }
    return isWhole ? .good : .bad
  }

  private func newestCommit() throws -> UInt64 {
    var options = PageStoreOptions()
    options.isReadOnly = true
    let pages = try PageStore.open(store.path, options: options)
    defer { try? pages.close() }
    return try pages.snapshot().commitNumber.rawValue
  }

  /// To the microsecond, by which a commit is told from the one before.
  static func text(_ date: Date) -> String {
    let count = Int64((date.timeIntervalSince1970 * 1e6).rounded())
    let second = Date(timeIntervalSince1970: Double(count / 1_000_000))
    guard let text = MomentText.text(of: second) else { return "" }
    let digits = "\(1_000_000 + count % 1_000_000)".dropFirst()
    return "\(text.dropLast()).\(digits)Z"
  }

  private static func json(_ generation: StoreShipping.Generation) -> JSONValue {
    func state(_ state: StoreShipping.State) -> JSONValue {
      ["commit": JSONValue(Int(clamping: state.commit)), "date": .string(text(state.date))]
    }
    return [
      "number": JSONValue(generation.number), "first": state(generation.first),
      "last": state(generation.last), "missing": JSONValue(generation.missingCommitCount),
      "files": JSONValue(generation.segmentCount + 1), "bytes": JSONValue(generation.byteCount),
      "followsWithoutGap": JSONValue(generation.isContinued),
      "defect": JSONValue(generation.defect),
    ]
  }
}
