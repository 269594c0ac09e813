import QuireSimulation
import QuireStorage
import Testing

/// A simulated disk dies after every single operation of a workload, and leaves whatever it might.
@Suite struct `Crashes` {
  @Test func `a crash after any operation leaves the last acknowledged commit or a later one`()
    throws
  {
    let workload = try Workload.standard()
    var found: [String] = []
    let count = try explore(workload, ignoring: nil) { problem in
      found.append(problem)
      return found.count < 5
    }
    print("crash images: \(count)")
    #expect(count > 400)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `a crash during recovery from a crash loses nothing either`() throws {
    let workload = try Workload.standard()
    var found: [String] = []
    let count = try exploreRecovery(workload, ignoring: nil) { problem in
      found.append(problem)
      return found.count < 5
    }
    print("crash images in recovery: \(count)")
    #expect(count > 200)
    #expect(found.isEmpty, "\(found)")
  }

  @Test(arguments: SyncReason.allCases)
  func `no sync is superfluous`(reason: SyncReason) throws {
    let workload = try Workload.standard()
    var found: String?
    let stop = { (problem: String) in
      found = problem
      return false
    }
    _ = try explore(workload, ignoring: reason, stop)
    if found == nil { _ = try exploreRecovery(workload, ignoring: reason, stop) }
    #expect(found != nil, "leaving out the sync for \(reason) does no harm")
  }

  /// Crashes after every operation and checks everything the disk may then hold.
  ///
  /// - Parameter report: told about each problem; whether to go on.
  /// - Returns: the number of images checked.
  private func explore(
    _ workload: Workload, ignoring reason: SyncReason?, _ report: (String) -> Bool
  ) throws -> Int {
    let total = operationCount(of: workload)
    var checked = 0
    for operation in 0...total {
      let disk = SimulatedDisk(ignoring: reason)
      disk.crash(after: operation)
      let progress = workload.run(in: disk)
      for (index, image) in sample(disk.crashImages(), seed: operation).enumerated() {
        checked += 1
        if let problem = problem(with: image, after: progress, of: workload) {
          if !report("crash after \(operation), image \(index): \(problem)") { return checked }
        }
      }
    }
    return checked
  }

  /// The process dies, the system lives; the next process recovers, and then the system dies.
  private func exploreRecovery(
    _ workload: Workload, ignoring reason: SyncReason?, _ report: (String) -> Bool
  ) throws -> Int {
    let total = operationCount(of: workload)
    var checked = 0
    for operation in stride(from: 6, to: total, by: isExhaustive || reason != nil ? 1 : 3) {
      var recoveryOperation = 0
      while true {
        let disk = SimulatedDisk(ignoring: reason)
        disk.crash(after: operation)
        let progress = workload.run(in: disk)
        disk.revive()
        disk.crash(after: recoveryOperation)
        let recovered = try? PageStore.open("store", options: Workload.options, in: disk)
        for image in sample(disk.crashImages(), seed: operation &* 31 &+ recoveryOperation) {
          checked += 1
          if let problem = problem(with: image, after: progress, of: workload) {
            let text = "crash after \(operation), in recovery after \(recoveryOperation)"
            if !report("\(text): \(problem)") { return checked }
          }
        }
        recoveryOperation += 1
        if recovered != nil { break }
      }
    }
    return checked
  }

  private func operationCount(of workload: Workload) -> Int {
    let disk = SimulatedDisk()
    let progress = workload.run(in: disk)
    #expect(progress.error == nil)
    return disk.operationCount
  }

  /// All images when there is time, else some, always with the first, drawn by a fixed seed.
  private func sample(_ images: [[String: [UInt8]]], seed: Int) -> [[String: [UInt8]]] {
    let limit = 20
    guard !isExhaustive, images.count > limit else { return images }
    var generator = SeededGenerator(seed: UInt64(seed))
    return [images[0]] + images.dropFirst().shuffled(using: &generator).prefix(limit - 1)
  }

  /// What is wrong with what a crash left, or `nil`.
  private func problem(
    with image: [String: [UInt8]], after progress: Workload.Progress, of workload: Workload
  ) -> String? {
    let disk = SimulatedDisk(image)
    var options = Workload.options
    // Should the store be gone, a new one would be another one.
    options.identity = StoreIdentity(high: 99, low: 99)
    do {
      let store = try PageStore.open("store", options: options, in: disk)
      let contents = try Workload.contents(of: store)
      let report = try store.check()
      if progress.isCreated, store.identity != Workload.options.identity {
        return "the store is gone"
      }
      if !report.isSound { return "\(report)" }
      let commit = Int(store.statistics.commitNumber.rawValue)
      guard (progress.acknowledged...progress.begun).contains(commit) else {
        return "commit \(commit), acknowledged \(progress.acknowledged), begun \(progress.begun)"
      }
      guard contents == workload.states[commit] else { return "not commit \(commit)'s content" }
      try store.close()
      let again = try PageStore.open("store", options: options, in: disk)
      guard try Workload.contents(of: again) == contents else { return "opened again, it differs" }
      try again.close()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
