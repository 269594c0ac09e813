/// Estimates of the duration of a migration, from the amount of work.
///
/// The estimate is a sum of constants for each row and each byte of rewritten rows, for each entry
/// of a rebuilt index, for each dropped byte, and once for opening, the commit and its syncs. The
/// constants were measured on the machine of `docs/benchmarks.md` in a release build: a million
/// rows of 95 bytes took 0.2 s, and 200,000 entries of indexes 0.39 s. The constant for dropped
/// bytes was not measured.
///
/// The estimate only distinguishes moments from minutes: with another disk, a colder cache or a
/// slower processor it may be wrong by a factor of three, in a debug build by ten.
enum MigrationEstimate {
  static let nanosecondsPerRow = 150.0
  static let nanosecondsPerRowByte = 1.0
  static let nanosecondsPerIndexEntry = 2_000.0
  static let nanosecondsPerDroppedByte = 1.0
  /// For an object of a mapping model with few properties and a relationship; policies may take any
  /// time.
  static let nanosecondsPerMappedObject = 15_000.0
  /// For opening the store and its log, and one commit with its syncs.
  static let fixedMilliseconds = 2.0

  static func rewriting(rows: Int, bytes: Int) -> Double {
    milliseconds(Double(rows) * nanosecondsPerRow + Double(bytes) * nanosecondsPerRowByte)
  }

  static func mapping(objects: Int) -> Double {
    milliseconds(Double(objects) * nanosecondsPerMappedObject)
  }

  static func rebuilding(entries: Int) -> Double {
    milliseconds(Double(entries) * nanosecondsPerIndexEntry)
  }

  static func dropping(bytes: Int) -> Double {
    milliseconds(Double(bytes) * nanosecondsPerDroppedByte)
  }

  /// Rounded to microseconds, as more digits would suggest more precision.
  private static func milliseconds(_ nanoseconds: Double) -> Double {
    (nanoseconds / 1_000).rounded() / 1_000
  }
}

extension MigrationPlan {
  /// The approximate time from the opening call to the durable commit: a sum over the written rows,
  /// bytes and entries, and once for the commit. It only distinguishes moments from minutes. Zero
  /// if the migration is not possible.
  public var estimatedDuration: Duration {
    .microseconds(Int64((estimatedMilliseconds * 1_000).rounded()))
  }

  /// ``estimatedDuration`` in milliseconds.
  public var estimatedMilliseconds: Double {
    guard obstacles.isEmpty else { return 0 }
    return MigrationEstimate.fixedMilliseconds
      + entities.reduce(0) { $0 + $1.estimatedMilliseconds }
      + indexes.reduce(0) { $0 + $1.estimatedMilliseconds }
      + numbers.reduce(0) {
        $0 + MigrationEstimate.rewriting(rows: $1.checkedObjectCount, bytes: 0)
      }
  }
}
