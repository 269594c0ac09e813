#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// This program again, in a process of its own.
///
/// Foundation's `Process` would bring all of Foundation into the memory that is measured.
enum ChildProcess {
  /// Runs `quire-bench` with these arguments and returns what it printed.
  ///
  /// - Throws: when it cannot be started, or does not end with status 0. Its errors go where ours
  ///   go.
  static func output(of arguments: [String]) throws -> String {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw BenchmarkError("pipe: \(String(cString: strerror(errno)))")
    }
    let process: pid_t
    do {
      process = try spawn([executable] + arguments, output: ends[1])
    } catch {
      close(ends[0])
      close(ends[1])
      throw error
    }
    close(ends[1])
    let text = readAll(ends[0])
    close(ends[0])
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1, errno == EINTR {}
    guard status == 0 else {
      throw BenchmarkError(
        "quire-bench \(arguments.joined(separator: " ")) ended with status \(status)")
    }
    return text
  }

  private static var executable: String {
    #if os(Linux)
      // Under valgrind nobody may run the link itself: it leads to valgrind.
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        ?? CommandLine.arguments[0]
    #else
      CommandLine.arguments[0]
    #endif
  }

  private static func spawn(_ arguments: [String], output: Int32) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    let environment = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for word in words + variables { free(word) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, arguments[0], &actions, nil, &words, &variables)
    guard code == 0 else { throw BenchmarkError("posix_spawn: \(String(cString: strerror(code)))") }
    return process
  }

  private static func readAll(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let length = read(descriptor, &part, part.count)
      if length < 0, errno == EINTR { continue }
      guard length > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += part.prefix(length)
    }
  }
}
