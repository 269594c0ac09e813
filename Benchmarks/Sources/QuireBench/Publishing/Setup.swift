#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The machine and the versions with which a row was measured.
struct Setup: Codable, Hashable {
  var processor: String
  var processorCount: Int
  var memoryGigabytes: Int
  var fileSystem: String
  var system: String
  var swift: String
  var sqlite: String
  /// What SQLite was compiled with; `nil` for rows that were measured before this was kept.
  var sqliteOptions: String?
  var lmdb: String

  /// This process's, for work in a folder.
  static func current(in folder: URL) -> Setup {
    let process = ProcessInfo.processInfo
    return Setup(
      processor: processorName, processorCount: process.processorCount,
      memoryGigabytes: Int((Double(process.physicalMemory) / 1e9).rounded()),
      fileSystem: WorkFolder.fileSystem(of: folder) ?? "unknown", system: systemName,
      swift: swiftVersion, sqlite: SQLiteDatabase.version,
      sqliteOptions: SQLiteDatabase.compileOptions, lmdb: LMDBEnvironment.version)
  }

  var description: String {
    "\(processorCount) × \(processor), \(memoryGigabytes) GB of memory, \(fileSystem); \(system); "
      + "Swift \(swift); SQLite \(sqlite); LMDB \(lmdb)"
  }

  private static var processorName: String {
    let information = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = information?.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last?.split(separator: " ").joined(separator: " ")
    return name ?? "processor of unknown name"
  }

  private static var systemName: String {
    let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
    guard let release = release?.split(whereSeparator: { $0 == "-" || $0 == "\n" }).first else {
      return ProcessInfo.processInfo.operatingSystemVersionString
    }
    return "Linux \(release)"
  }

  private static var swiftVersion: String {
    #if compiler(>=6.5)
      "6.5 or later"
    #elseif compiler(>=6.4)
      "6.4"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
