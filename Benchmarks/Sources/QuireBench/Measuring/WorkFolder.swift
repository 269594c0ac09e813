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

/// The folder that a run works in.
enum WorkFolder {
  /// The bytes that the files in a folder take on the disk: allocated blocks, not lengths.
  static func allocatedByteCount(of folder: URL) throws -> Int {
    let path = folder.path(percentEncoded: false)
    return try FileManager.default.subpathsOfDirectory(atPath: path).reduce(0) { sum, name in
      var status = stat()
      guard stat(folder.appending(path: name).path(percentEncoded: false), &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { return sum }
      // POSIX leaves the unit open; it is 512 bytes on every system this runs on.
      return sum + Int(status.st_blocks) * 512
    }
  }

  /// The length of a file.
  static func byteCount(of file: URL) throws -> Int {
    let path = file.path(percentEncoded: false)
    var status = stat()
    guard stat(path, &status) == 0 else { throw BenchmarkError("there is no \(path)") }
    return Int(status.st_size)
  }

  /// An empty folder, made anew.
  static func make(_ folder: URL) throws {
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Whether syncing a file there costs nothing, because there is no disk behind it.
  static func isInMemory(_ folder: URL) -> Bool {
    fileSystem(of: folder).map(["tmpfs", "ramfs"].contains) ?? false
  }

  /// The kind of the file system, as ext4; `nil` where the system does not list it.
  static func fileSystem(of folder: URL) -> String? {
    #if os(Linux)
      guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else {
        return nil
      }
      let path = folder.path(percentEncoded: false)
      // Device, mount point, type …; the longest mount point on the way is the one that counts.
      var nearest = (point: "", type: "")
      for line in mounts.split(separator: "\n") {
        let fields = line.split(separator: " ").map(String.init)
        guard fields.count > 2, path.hasPrefix(fields[1]) else { continue }
        if fields[1].count >= nearest.point.count { nearest = (fields[1], fields[2]) }
      }
      return nearest.type
    #else
      return nil
    #endif
  }
}
