/// How long a migration will take, from what it has to write.
///
/// A sum: so much for each row and each byte of the rows that are rewritten, for each entry of an
/// index that is rebuilt, for each byte of what is dropped, and once for opening, the commit and
/// its syncs. The figures were measured on the machine of `docs/benchmarks.md` in a release build:
/// a million rows of 95 bytes took 0.2 s, and 200,000 entries of indexes 0.39 s. The figure for
/// what is dropped is a guess from reading.
///
/// It is an estimate, for telling a moment from a minute: another disk, a colder cache or a slower
/// processor may well be off by a factor of three, and a debug build by ten.
enum MigrationEstimate {
  static let nanosecondsPerRow = 150.0
  static let nanosecondsPerRowByte = 1.0
  static let nanosecondsPerIndexEntry = 2_000.0
  static let nanosecondsPerDroppedByte = 1.0
  /// Of an object that a mapping model is carried out for, of few properties and a relationship;
  /// policies may do anything.
  static let nanosecondsPerMappedObject = 15_000.0
  /// Opening the store and its log, and one commit with its syncs.
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

  /// To the microsecond: more digits would promise more than there is.
  private static func milliseconds(_ nanoseconds: Double) -> Double {
    (nanoseconds / 1_000).rounded() / 1_000
  }
}

extension MigrationPlan {
  /// How long the migration will take from the open call to the durable commit, about: so much for
  /// each row, byte and entry that is written, and once for the commit. For telling a moment from a
  /// minute, not more. Zero when the migration cannot be made.
  public var estimatedDuration: Duration {
    .microseconds(Int64((estimatedMilliseconds * 1_000).rounded()))
  }

  /// ``estimatedDuration`` as a number.
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
