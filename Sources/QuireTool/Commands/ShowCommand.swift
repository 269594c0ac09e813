import Foundation

/// `quire show`: a store as a page for a browser.
struct ShowCommand: Command {
  static let syntax = CommandSyntax(
    name: "show", summary: "makes a page of a store to browse, in one HTML file",
    group: .objects,
    operands: [.init("STORE", "the store's file")],
    options: [
      .init("to", "FILE", "the file to write; STORE.html in the working folder unless given"),
      .init("limit", "N", "at most so many objects of each entity; 2000 unless given"),
      .init("open", "yes|no", "whether to show it in a browser; yes on a terminal"),
      .json,
    ],
    discussion: """
      The page has the model as a diagram, sizes, objects in tables with links along their
      relationships, a map of the file's pages, and the store's history. It needs no network and no
      server. The store is opened read-only. Of a damaged store the page shows what quire salvage
      would keep, and names the rest; what is wrong is an error each, and the exit code 1. An
      earlier page is replaced, any other file is kept.
      """,
    examples: [.init("A page of a store", "quire show gallery.quire --to gallery.html")])

  private let store: URL
  private let file: URL
  private let limit: Int
  private let isJSON: Bool
  /// `nil` when nothing is said.
  private let opens: Bool?

  init(_ arguments: Arguments) throws(UsageError) {
    store = URL(filePath: arguments.operands[0])
    let name = store.deletingPathExtension().lastPathComponent
    file = URL(filePath: arguments.value(of: "to") ?? "\(name).html")
    isJSON = arguments.has(flag: "json")
    limit = try arguments.count(of: "limit") ?? 2_000
    switch arguments.value(of: "open") {
    case nil: opens = nil
    case "yes": opens = true
    case "no": opens = false
    case let word?: throw arguments.wrong("--open takes yes or no, not “\(word)”.")
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    let content = try Tool.still(store, console) {
      try StorePageContent(of: store, in: $0, limit: limit, console)
    }
    try PlainFile.write(StorePage(content: content).text, to: file.path) {
      $0.starts(with: Data(StorePage.start.utf8))
    }
    if isJSON {
      console.print([
        "store": .string(store.path), "page": .string(file.path),
        "problems": JSONValue(content.problems),
      ])
    } else {
      console.print(file.path)
    }
    for problem in content.problems { console.complain("\(store.path): \(problem)") }
    if opens ?? (console.output.terminal != nil) { open(console) }
    return content.problems.isEmpty ? .good : .bad
  }

  /// Shows the page in the user's browser.
  private func open(_ console: Console) {
    let environment = ProcessInfo.processInfo.environment
    let hasDisplay = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
    // Of macOS, and of other desktops, which say where to show a window.
    let programs = hasDisplay ? ["/usr/bin/xdg-open", "/usr/bin/open"] : ["/usr/bin/open"]
    let program = programs.first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let program else {
      return console.note("there is no display or no program to show a page with")
    }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = [file.path]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      console.note("\(program) did not start: open \(file.path) in a browser")
    }
  }
}
