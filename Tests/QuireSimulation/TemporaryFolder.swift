import QuireStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A folder for a test, empty at first. It goes, with all that is in it, when the last reference
/// does.
package final class TemporaryFolder {
  package let path: String

  /// The folder that has all of them; what must outlast a test can be left here.
  package static var parent: String { environmentValue("TMPDIR") ?? "/tmp" }

  package init() throws {
    var template = [CChar]("\(Self.parent)/quire-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Failure.noFolder(errno) }
    path = String(cString: made)
  }

  package enum Failure: Error { case noFolder(Int32) }

  deinit { Self.remove(path) }

  /// Removes a file, a link, or a folder with all that is in it.
  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    for name in names(in: path) { remove(path + "/" + name) }
    rmdir(path)
  }

  private static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// The names in the folder, sorted.
  package var names: [String] { Self.names(in: path).sorted() }

  /// The bytes of every file, by its name.
  package func contents() throws -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for name in names {
      let file = try DiskFileSystem().open(path + "/" + name, .read)
      contents[name] = try [UInt8](unsafeUninitializedCapacity: try file.byteCount()) {
        $1 = try file.read(at: 0, into: UnsafeMutableRawBufferPointer($0))
      }
    }
    return contents
  }

  /// Copies every file as it is.
  package func copy(to other: TemporaryFolder) throws {
    for (name, bytes) in try contents() {
      let file = try DiskFileSystem().open(other.path + "/" + name, .create)
      try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
  }

  package func makeReadOnly(_ isReadOnly: Bool) { chmod(path, isReadOnly ? 0o555 : 0o755) }
}

/// This process's number.
package var currentProcessID: Int32 { getpid() }
/// The number of the process that made this one.
package var parentProcessID: Int32 { getppid() }
