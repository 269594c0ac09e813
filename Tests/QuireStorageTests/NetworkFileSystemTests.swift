import QuireSimulation
import QuireStorage
import Testing

/// Stores on file systems of a network, which may not carry locks from one machine to another.
@Suite struct `Network file systems` {
  private static func options(
    isShared: Bool, trusts: Bool = false, isReadOnly: Bool = false
  ) -> PageStoreOptions {
    var options = Proof.options
    options.isShared = isShared
    options.trustsNetworkLocks = trusts
    options.isReadOnly = isReadOnly
    options.turnKeepInterval = .zero
    return options
  }

  private static let refusal = StorageError.networkFileSystem(path: "store", type: "nfs")

  private static func disk() -> SimulatedDisk {
    let disk = SimulatedDisk()
    disk.networkType = "nfs"
    return disk
  }

  @Test func `no store is shared there, and none is left behind`() throws {
    let disk = Self.disk()
    #expect(throws: Self.refusal) {
      try PageStore.open("store", options: Self.options(isShared: true), in: disk)
    }
    #expect(disk.files.isEmpty)
  }

  @Test func `a store of one process stays one of one process`() throws {
    let disk = Self.disk()
    let store = try PageStore.open("store", options: Self.options(isShared: false), in: disk)
    try Proof.put(store, 0..<4, 1)
    try store.close()
    let before = disk.files
    #expect(throws: Self.refusal) {
      try PageStore.open("store", options: Self.options(isShared: true), in: disk)
    }
    #expect(disk.files == before, "it is not marked")
    let again = try PageStore.open("store", options: Self.options(isShared: false), in: disk)
    #expect(try Proof.values(again.snapshot()) == [1, 1, 1, 1])
    #expect(!again.isShared)
  }

  /// Brought there after it was shared, with the option or without it.
  @Test(arguments: [false, true])
  func `a store that is shared is not written there`(isShared: Bool) throws {
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: Self.options(isShared: true), in: disk)
    try Proof.put(store, 0..<4, 1)
    try store.close()
    disk.networkType = "nfs"
    let before = disk.files
    #expect(throws: Self.refusal) {
      try PageStore.open("store", options: Self.options(isShared: isShared), in: disk)
    }
    #expect(disk.files == before)
    // What can be read is read, and copied to a store that one process may write.
    let reader = try PageStore.open(
      "store", options: Self.options(isShared: false, isReadOnly: true), in: disk)
    #expect(try Proof.values(reader.snapshot()) == [1, 1, 1, 1])
    try reader.backUp(to: "copy", in: disk)
    let copy = try PageStore.open("copy", options: Self.options(isShared: false), in: disk)
    try Proof.put(copy, 0..<4, 2)
    #expect(try Proof.values(copy.snapshot()) == [2, 2, 2, 2])
  }

  @Test func `whoever knows that the locks hold says so`() throws {
    let disk = Self.disk()
    let options = Self.options(isShared: true, trusts: true)
    let one = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 1))
    let two = try PageStore.open("store", options: options, in: OtherProcess(disk, number: 2))
    try Proof.put(one, 0..<4, 1)
    try Proof.put(two, 2..<6, 2)
    #expect(try Proof.values(one.snapshot()) == [1, 1, 2, 2, 2, 2])
  }

  @Test func `the error names the type, and what to do`() {
    let text = "\(StorageError.networkFileSystem(path: "/srv/store", type: "smb2"))"
    for part in ["/srv/store", "(smb2)", "disk of this machine", "trustsNetworkLocks"] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test func `the disk of this machine is none`() throws {
    let folder = try TemporaryFolder()
    let disk = DiskFileSystem()
    #expect(disk.networkType(of: folder.path + "/store") == nil)
    var options = Self.options(isShared: true)
    options.identity = nil
    let store = try PageStore.open(folder.path + "/store", options: options)
    #expect(store.isShared)
    #expect(disk.networkType(of: folder.path + "/store") == nil)
    #expect(disk.networkType(of: folder.path + "/nowhere/store") == nil)
    try store.close()
  }

  #if !canImport(Darwin)
    @Test func `the kernel is asked for the type`() throws {
      // That of `proc`, which is the same everywhere.
      #expect(NetworkFileSystem.number(of: "/proc/self/status") == 0x9FA0)
      #expect(NetworkFileSystem.number(of: "/proc/no such file") == nil)
      let folder = try TemporaryFolder()
      let number = try #require(NetworkFileSystem.number(of: folder.path))
      #expect(number != 0x9FA0 && NetworkFileSystem.names[number] == nil)
    }

    /// The kernel tells what FUSE is used for in its list of mounts alone.
    @Test func `a shared folder of a virtual machine is told from other uses of FUSE`() {
      let mounts = """
        27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
        91 27 0:61 / /srv/host rw,relatime shared:7 master:2 - virtiofs host rw
        92 27 0:62 /a /srv/a\\040b rw,relatime - fuse.rclone remote: rw,user_id=0
        93 27 0:63 / /srv/other rw,relatime - fuse.sshfs me@there:/ rw
        94 27 260:70000 / /srv/large rw - virtiofs large rw
        """
      #expect(NetworkFileSystem.fuseType(ofDevice: 61, in: mounts) == "virtiofs")
      #expect(NetworkFileSystem.fuseType(ofDevice: 62, in: mounts) == nil)
      #expect(NetworkFileSystem.fuseType(ofDevice: 63, in: mounts) == "fuse.sshfs")
      #expect(NetworkFileSystem.fuseType(ofDevice: 64, in: mounts) == nil)
      // 260 and 70,000 as the kernel puts them into one number.
      let large: UInt64 = 260 << 8 | 70_000 & 0xFF | (70_000 & ~0xFF) << 12
      #expect(NetworkFileSystem.fuseType(ofDevice: large, in: mounts) == "virtiofs")
      #expect(NetworkFileSystem.fuseType(ofDevice: 254 << 8, in: mounts) == nil)
    }

    @Test func `types are known by the kernel's numbers`() {
      let names = NetworkFileSystem.names
      #expect(names[0x6969] == "nfs" && names[0xFF53_4D42] == "cifs" && names[0x0102_1997] == "9p")
      // Of disks: ext4, XFS, Btrfs, ZFS, F2FS, overlayfs, tmpfs; and FUSE.
      let local: [UInt32] = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0x2FC1_2FC1, 0xF2F5_2010, 0x794C_7630, 0x0102_1994,
        0x6573_5546,
      ]
      #expect(local.allSatisfy { names[$0] == nil })
    }
  #endif
}
