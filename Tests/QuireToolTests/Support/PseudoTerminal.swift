import Foundation

/// A terminal of our own: what a program writes to it can be read here.
final class PseudoTerminal {
  private let main: FileHandle
  /// The end that a program has for a terminal.
  let end: FileHandle

  init(columnCount: Int) throws {
    let (descriptor, name) = try Self.open()
    main = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let other = Foundation.open(name, O_RDWR | O_NOCTTY)
    guard other >= 0 else { throw Failure() }
    end = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    var size = winsize()
    size.ws_col = UInt16(columnCount)
    size.ws_row = 24
    guard ioctl(other, numericCast(TIOCSWINSZ), &size) == 0 else { throw Failure() }
  }

  private struct Failure: Error { var code = errno }

  /// - Returns: our end, and the name of the other.
  private static func open() throws -> (Int32, String) {
    #if canImport(Darwin)
      let descriptor = posix_openpt(O_RDWR | O_NOCTTY)
      guard descriptor >= 0, grantpt(descriptor) == 0, unlockpt(descriptor) == 0,
        let name = ptsname(descriptor)
      else { throw Failure() }
      return (descriptor, String(cString: name))
    #else
      // What the functions of POSIX do, which Swift does not see everywhere: TIOCSPTLCK, TIOCGPTN.
      let descriptor = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY)
      var (lock, number): (Int32, UInt32) = (0, 0)
      guard descriptor >= 0, ioctl(descriptor, numericCast(0x4004_5431 as UInt), &lock) == 0,
        ioctl(descriptor, numericCast(0x8004_5430 as UInt), &number) == 0
      else { throw Failure() }
      return (descriptor, "/dev/pts/\(number)")
    #endif
  }

  /// What was written so far, with the ends of lines as programs write them.
  func text() -> String {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 14)
    var request = pollfd(fd: main.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while poll(&request, 1, 0) > 0, request.revents & Int16(POLLIN) != 0 {
      let count = read(main.fileDescriptor, &block, block.count)
      if count <= 0 { break }
      bytes += block[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
  }
}
