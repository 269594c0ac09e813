// Two programs in one: the first hammers a store until it is killed, the second looks at what is
// left. `Tests/Killing/run` has them take turns.

import QuireStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@main
enum Killing {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { fail("hammer FOLDER DURABILITY, or check FOLDER 0") }
    do {
      switch arguments[1] {
      case "hammer": try Hammer(arguments[2], durability: arguments[3]).run()
      case "check": try Check(arguments[2]).run()
      default: fail("not known: \(arguments[1])")
      }
    } catch {
      fail("\(arguments[1]): \(error)")
    }
  }

  static func fail(_ message: String) -> Never {
    print(message)
    exit(1)
  }

  static func options(_ folder: String) -> PageStoreOptions {
    var options = PageStoreOptions()
    // By its name, so that every process asks for the same.
    options.pageSize = folder.hasSuffix("small") ? 512 : 4096
    options.checkpointByteLimit = 96 << 10
    options.cacheByteLimit = 384 << 10
    // So that the larger changes go to the file before their commit.
    options.transactionByteLimit = 128 << 10
    return options
  }
}

/// Lines that are whole in a file that only ever grows, as each is one call to the system.
struct Journal: Sendable {
  private let descriptor: Int32

  init(_ folder: String) {
    descriptor = open(folder + "/journal", O_WRONLY | O_CREAT | O_APPEND, 0o644)
    if descriptor < 0 { Killing.fail("no journal: error \(errno)") }
  }

  func add(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    if write(descriptor, &bytes, bytes.count) != bytes.count { Killing.fail("no room to write") }
  }

  static func lines(_ folder: String) -> [Substring] {
    guard let file = fopen(folder + "/journal", "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }
}

/// Eight threads that commit, one that reads, and now and then a compaction or a backup.
struct Hammer: Sendable {
  private let folder: String
  private let options: PageStoreOptions
  private let journal: Journal

  init(_ folder: String, durability: String) {
    self.folder = folder
    var options = Killing.options(folder)
    switch durability {
    case "full": options.durability = .full
    case "ordered": options.durability = .ordered
    case "none": options.durability = .none
    default: Killing.fail("not a durability: \(durability)")
    }
    self.options = options
    journal = Journal(folder)
  }

  func run() throws {
    journal.add("opening")
    let store = try PageStore.open(folder + "/store", options: options)
    journal.add("open")
    for number in 0..<8 { thread { try commit(store, number) } }
    thread { while true { _ = try store.read { try NumberedContent.verify($0) } } }
    while true { sleep(100) }
  }

  private func thread(_ body: @escaping @Sendable () throws -> Void) {
    Threads.run {
      do { try body() } catch { Killing.fail("\(error)") }
    }
  }

  private func commit(_ store: PageStore, _ number: Int) throws {
    while true {
      let last = try store.write { try NumberedContent.change($0) }
      journal.add("commit \(last)")
      if last % 401 == 0 {
        journal.add("compacting")
        try store.compact()
        journal.add("compacted")
      }
      if last % 257 == 0 {
        try store.backUp(to: "\(folder)/backup-\(last)")
        journal.add("backup \(last)")
      }
      if last % 1009 == 0 { try store.checkpoint() }
    }
  }
}

/// Looks at what a killed process left, and at the backups.
struct Check {
  private let folder: String

  init(_ folder: String) { self.folder = folder }

  func run() throws {
    var acknowledged: Int64 = 0
    var backups: Set<Int64> = []
    for line in Journal.lines(folder) {
      let words = line.split(separator: " ")
      guard words.count == 2, let number = Int64(words[1]) else { continue }
      if words[0] == "commit" { acknowledged = max(acknowledged, number) }
      if words[0] == "backup" { backups.insert(number) }
    }
    let last = try inspect(folder + "/store", readOnly: false)
    guard last >= acknowledged else {
      throw NumberedContent.Wrong(
        description: "commit \(acknowledged) returned, the last is \(last)")
    }
    for name in names() {
      if name.hasPrefix("backup-"), let number = Int64(name.dropFirst(7)) {
        let found = try inspect(folder + "/" + name, readOnly: true)
        guard found >= number, found <= last else {
          throw NumberedContent.Wrong(
            description: "\(name) shows commit \(found), the store \(last)")
        }
        backups.remove(number)
        unlink(folder + "/" + name)
      } else if name.contains("-new") {
        throw NumberedContent.Wrong(description: "\(name) was left after the store was opened")
      }
    }
    guard backups.isEmpty else {
      throw NumberedContent.Wrong(description: "backups returned and are not there: \(backups)")
    }
    unlink(folder + "/journal")
    Journal(folder).add("commit \(last)")
  }

  private func inspect(_ path: String, readOnly: Bool) throws -> Int64 {
    var options = Killing.options(folder)
    options.isReadOnly = readOnly
    let store = try PageStore.open(path, options: options)
    let last = try store.read { try NumberedContent.verify($0) }
    let report = try store.check()
    guard report.isSound else { throw NumberedContent.Wrong(description: "\(path): \(report)") }
    // Not always closed, so that the next process finds a log.
    if last % 2 == 0 || readOnly { try store.close() }
    return last
  }

  private func names() -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      names.append(name)
    }
    return names
  }
}

/// Threads that nobody waits for.
enum Threads {
  private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func run(_ body: @escaping @Sendable () -> Void) {
    let job = Unmanaged.passRetained(Job(body))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = pthread_create(
      &thread, nil,
      { argument in
        // Optional on some systems and not on others.
        let raw: UnsafeMutableRawPointer? = argument
        if let raw { Unmanaged<Job>.fromOpaque(raw).takeRetainedValue().body() }
        return nil
      }, job.toOpaque())
    if code != 0 { Killing.fail("a thread could not be started: error \(code)") }
  }
}
