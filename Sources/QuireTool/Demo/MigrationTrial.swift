import Foundation
import Quire
import QuireModel
import QuireTesting

/// One fixture, migrated several times, each time on a fresh copy.
///
/// Every run is checked in full. The report is that of the first; the durations are those of all.
package struct MigrationTrial {
  package static let usualRunCount = 5
  /// The number of runs; tests set a smaller one.
  @TaskLocal package static var runCount = usualRunCount
  /// The limit from the open call to the durable commit, for a store of a real application's size.
  /// Tests of unoptimised code set a larger one.
  @TaskLocal package static var budget = Duration.milliseconds(200)

  let fixture: URL
  let budget: Duration
  /// The first run; `nil` when the fixture could not be migrated at all.
  let check: MigrationCheck?
  /// In the order of the runs.
  let durations: [Duration]
  /// Everything that is wrong, in any of the runs; empty when all is well.
  package let failures: [String]

  /// - Parameter keep: where the copy of the first run stays; the others go with `folder`.
  package init(
    of fixture: URL, to model: VersionedModel, in folder: URL, keep: URL? = nil,
    budget: Duration = Self.budget
  ) {
    self.fixture = fixture
    self.budget = budget
    var checks: [MigrationCheck] = []
    var failures: [String] = []
    do {
      for run in 1...Self.runCount {
        let kept = run == 1 ? keep : nil
        let copies = kept ?? folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        let check = try MigrationCheck(of: fixture, to: model, in: copies)
        checks.append(check)
        for failure in check.failures where !failures.contains(failure) { failures.append(failure) }
        if kept == nil { try FileManager.default.removeItem(at: copies) }
      }
    } catch {
      failures.append(Tool.diagnosis(of: error))
    }
    check = checks.first
    durations = checks.map(\.duration)
    if let median = Self.median(durations), median > budget {
      failures.append("the median of \(median.milliText) is over the budget")
    }
    self.failures = failures
  }

  var name: String { fixture.deletingPathExtension().lastPathComponent }
  package var passed: Bool { failures.isEmpty }
  var median: Duration? { Self.median(durations) }
  var worst: Duration? { durations.max() }
  var factCount: Int { check?.comparedCount ?? 0 }

  private static func median(_ durations: [Duration]) -> Duration? {
    durations.isEmpty ? nil : durations.sorted()[durations.count / 2]
  }
}
