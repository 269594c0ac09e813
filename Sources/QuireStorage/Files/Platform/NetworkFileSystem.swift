#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// File systems whose files other machines may have open as well: those of a network, and folders
/// that a host shares with its virtual machines and containers. Many of them do not carry the locks
/// of open files from one machine to another.
///
/// FUSE is not among them, as most of what it is used for is of one machine; only those of its
/// kinds that are known by a name of their own.
package enum NetworkFileSystem {
  /// The type of the file system of a file, or of the folder that it would be in; `nil` if it is
  /// none of these, and where that is not known.
  static func type(of path: String) -> String? {
    ownType(of: path) ?? ownType(of: Posix.folder(of: path))
  }

  #if canImport(Darwin)
    private static let names: Set<String> = [
      "nfs", "smbfs", "cifs", "afpfs", "webdav", "ftp", "ncp", "acfs", "virtiofs", "AppleVirtIOFS",
      "9p", "vmhgfs", "prl_fs", "vboxsf",
    ]

    private static func ownType(of path: String) -> String? {
      var status = statfs()
      guard statfs(path, &status) == 0 else { return nil }
      let name = withUnsafeBytes(of: &status.f_fstypename) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      return names.contains(name) ? name : nil
    }
  #else
    /// The numbers of the kernel's interface (`linux/magic.h`), and of file systems outside of it.
    package static let names: [UInt32: String] = [
      0x6969: "nfs", 0x517B: "smb", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb2",
      0x00C3_6400: "ceph", 0x0116_1970: "gfs2", 0x0BD0_0BD0: "lustre", 0x7461_636F: "ocfs2",
      0x5346_414F: "afs", 0x6B41_4653: "kafs", 0x7375_7245: "coda", 0x564C: "ncp",
      0x0102_1997: "9p", 0x6A65_6A63: "fakeowner", 0x786F_4256: "vboxsf", 0xBACB_ACBC: "vmhgfs",
      0x7C7C_6673: "prl_fs", 0x4750_5346: "gpfs", 0x1983_0326: "beegfs", 0x6163_6673: "acfs",
    ]
    private static let fuse: UInt32 = 0x6573_5546

    private static func ownType(of path: String) -> String? {
      guard let number = number(of: path) else { return nil }
      guard number == fuse else { return names[number] }
      guard let device = try? Posix.identifier(of: path)?.volume, let mounts = mounts() else {
        return nil
      }
      return fuseType(ofDevice: device, in: mounts)
    }

    /// The number that tells file systems apart; `nil` if there is no such file.
    package static func number(of path: String) -> UInt32? {
      guard let call else { return nil }
      // Far more than a `struct statfs` has, of which only the first word is of interest: it is the
      // number in all its layouts, of 32 or 64 bits, the lower half first.
      var status: [UInt64] = Array(repeating: 0, count: 64)
      let isKnown = status.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { call(path, $0) == 0 } ?? false
      }
      return isKnown ? UInt32(truncatingIfNeeded: status[0]) : nil
    }

    private typealias Call = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer) -> Int32
    /// `statfs`, which the module of the C library does not show.
    private static let call: Call? = {
      guard let function = dlsym(nil, "statfs") else { return nil }
      // Sound: these are the types of its C declaration; the structure is memory of our own.
      return unsafeBitCast(function, to: Call.self)
    }()

    private static func mounts() -> String? {
      let path = "/proc/self/mountinfo"
      guard let descriptor = try? Posix.open(path, .read) else { return nil }
      defer { Posix.close(descriptor) }
      var text: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 16_384)
      while let count = try? part.withUnsafeMutableBytes({ bytes throws(StorageError) in
        try Posix.read(descriptor, path, at: text.count, into: bytes)
      }), count > 0 {
        text += part[..<count]
      }
      return String(decoding: text, as: UTF8.self)
    }

    /// Which of the known kinds of FUSE a device is, given the text of `/proc/self/mountinfo`.
    package static func fuseType(ofDevice device: UInt64, in mounts: String) -> String? {
      let major = (device >> 8 & 0xFFF) | (device >> 32 & 0xFFFF_F000)
      let minor = (device & 0xFF) | (device >> 12 & 0xFFFF_FF00)
      for line in mounts.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count > 2, words[2] == "\(major):\(minor)" else { continue }
        // What stands before the dash is of any number of words.
        guard let dash = words.firstIndex(of: "-"), dash + 1 < words.count else { continue }
        let type = words[dash + 1]
        return type == "virtiofs" || type == "fuse.sshfs" ? String(type) : nil
      }
      return nil
    }
  #endif
}
