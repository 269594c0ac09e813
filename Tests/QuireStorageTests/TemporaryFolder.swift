import QuireSimulation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A folder that goes, with what is in it, when the last reference does.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = [CChar](("\(environmentValue("TMPDIR") ?? "/tmp")/quire-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else { throw Failure.noFolder(errno) }
    path = String(cString: made)
  }

  enum Failure: Error { case noFolder(Int32) }

  deinit {
    for name in names { unlink(path + "/" + name) }
    rmdir(path)
  }

  /// The names in the folder, sorted.
  var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func makeReadOnly(_ isReadOnly: Bool) { chmod(path, isReadOnly ? 0o555 : 0o755) }
}

/// This process's number.
var currentProcessID: Int32 { getpid() }
