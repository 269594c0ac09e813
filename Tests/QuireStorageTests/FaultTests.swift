import QuireSimulation
import QuireStorage
import Testing

/// Each operation of a workload fails once.
@Suite struct `Failing operations` {
  @Test(arguments: SimulatedDisk.Fault.allCases)
  func `a failed operation is an error, and no acknowledged commit is lost`(
    fault: SimulatedDisk.Fault
  ) throws {
    let workload = try Workload.standard()
    let clean = SimulatedDisk()
    #expect(workload.run(in: clean).error == nil)
    for operation in 1...clean.operationCount {
      let disk = SimulatedDisk()
      disk.fail(at: operation, with: fault)
      let progress = workload.run(in: disk)
      // Whatever was said, the files the system shows now hold every acknowledged commit.
      let store = try PageStore.open("store", options: Workload.options, in: disk)
      let commit = Int(store.statistics.commitNumber.rawValue)
      #expect(
        (progress.acknowledged...max(progress.begun, progress.acknowledged)).contains(commit),
        "\(fault) at \(operation)")
      #expect(try Workload.contents(of: store) == workload.states[commit])
      let report = try store.check()
      #expect(report.isSound, "\(fault) at \(operation): \(report)")
      try store.close()
    }
  }

  /// The sync of a checkpoint's meta page once failed for want of space; the page was on the disk
  /// all the same, the log went on in the old epoch, and after a crash its commits no longer
  /// counted. Now such a failure poisons the store.
  @Test(arguments: SimulatedDisk.Fault.allCases)
  func `a failed operation and then a crash lose no acknowledged commit`(
    fault: SimulatedDisk.Fault
  ) throws {
    // No close at the end and no checkpoint in between, which would put everything right again.
    var options = Workload.options
    options.checkpointByteLimit = 1 << 20
    let workload = try Workload([
      .commit(0), .checkpoint, .commit(1), .commit(2), .commit(3), .commit(4),
    ])
    let clean = SimulatedDisk()
    #expect(workload.run(in: clean, options: options).error == nil)
    for operation in 1...clean.operationCount {
      let disk = SimulatedDisk()
      disk.fail(at: operation, with: fault)
      let progress = workload.run(in: disk, options: options)
      for (index, image) in disk.crashImages().enumerated() where index % 3 == 0 || isExhaustive {
        guard progress.isCreated else { continue }
        let store = try PageStore.open(
          "store", options: Workload.options, in: SimulatedDisk(image))
        let commit = Int(store.statistics.commitNumber.rawValue)
        #expect(
          (progress.acknowledged...progress.begun).contains(commit), "\(fault) at \(operation)")
        #expect(try Workload.contents(of: store) == workload.states[commit])
        #expect(try store.check().isSound)
        try store.close()
      }
    }
  }

  @Test func `after a failed sync the store refuses to write and goes on reading`() throws {
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: Workload.options, in: disk)
    try store.write { try Workload.change($0, 0) }
    let before = try Workload.contents(of: store)
    // The next commit's operations are one write and one sync.
    disk.fail(at: disk.operationCount + 2, with: .ioError)
    #expect(throws: StorageError.self) { try store.write { try Workload.change($0, 1) } }
    #expect(try Workload.contents(of: store) == before)
    do {
      _ = try store.beginWrite()
      Issue.record("a poisoned store began a transaction")
    } catch .poisoned(cause: .io(_, let path, let code, _)) {
      #expect(path == "store-log")
      #expect(code == 5)
    }
    try store.close()
  }

  @Test(arguments: [SimulatedDisk.Fault.noSpace, .shortWriteNoSpace])
  func `a full disk aborts the commit, and the next one may succeed`(
    fault: SimulatedDisk.Fault
  ) throws {
    let clean = SimulatedDisk()
    var store = try PageStore.open("store", options: Workload.options, in: clean)
    try store.write { try Workload.change($0, 0) }
    let begin = clean.operationCount
    try store.write { try Workload.change($0, 1) }
    // All but the last, which is the sync.
    let operations = 1..<(clean.operationCount - begin)
    try store.close()
    for operation in operations {
      let disk = SimulatedDisk()
      store = try PageStore.open("store", options: Workload.options, in: disk)
      try store.write { try Workload.change($0, 0) }
      let before = try Workload.contents(of: store)
      disk.fail(at: disk.operationCount + operation, with: fault)
      #expect(throws: StorageError.noSpaceLeft(path: "store-log")) {
        try store.write { try Workload.change($0, 1) }
      }
      #expect(try Workload.contents(of: store) == before)
      try store.write { try Workload.change($0, 2) }
      let after = try Workload.contents(of: store)
      // The system dies with everything acknowledged on the disk.
      for image in disk.crashImages() {
        let reopened = try PageStore.open(
          "store", options: Workload.options, in: SimulatedDisk(image))
        #expect(try Workload.contents(of: reopened) == after)
        #expect(try reopened.check().isSound)
        try reopened.close()
      }
      try store.close()
    }
  }
}
