import QuireStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Ships the commits of a store to a folder: on another disk, or a mount. From there the store is
/// restored as it was at any moment.
///
/// The store may be in use, by this process or others: shipping reads it as any reader does, takes
/// no lock and writes nothing to it. One process ships to a folder; a second one is told so by an
/// error when it next writes there.
///
///     let shipping = try StoreShipping(of: store, to: folder)
///     try shipping.run { !isOver.load(ordering: .relaxed) }
///
/// The folder has a *base*, which is a closed store, and *segments* with the commits that followed.
/// Each names the one before, so that one that is missing is an error. A base and its segments are
/// a *generation*; another one begins from time to time, so that a restoration need not read all
/// of the history. Files in the folder are never changed, and get their names when they are whole.
///
/// A commit can be shipped for as long as the store's log has it. If shipping comes too late, for
/// example since it did not run, what differs is shipped as one commit, or all of it as a new base;
/// the moments between cannot be restored. ``Event`` tells.
public final class StoreShipping: Sendable {
  /// How a store is shipped.
  public struct Options: Hashable, Sendable {
    /// How often ``run(while:)`` writes to the folder, if there is something new. What a disaster
    /// takes is what was committed since the last time. A second unless set.
    public var interval = Duration.seconds(1)
    /// How far back a moment can be restored at least; `nil`, as it is unless set, for ever. What
    /// is older is removed, a generation at a time.
    public var retention: Duration?
    /// The age at which a base is followed by another one: a day unless set. There is another one
    /// as well when the segments after it are as large as it is, and 64 MiB at least.
    public var baseInterval = Duration.seconds(24 * 3600)
    /// Where a base is put together before it is shipped: as much room is needed as the store has.
    public var temporaryDirectory = FileManager.default.temporaryDirectory

    /// The options as they are unless set.
    public init() {}
  }

  /// A commit in a folder.
  public struct State: Hashable, Sendable {
    /// The number of the commit, as `quire stat` shows it.
    public let commit: UInt64
    /// When it was seen, to the microsecond: some tens of milliseconds after it was made, while
    /// shipping runs. Each commit has a time of its own.
    public let date: Date

    init(_ commit: ShippedCommit) {
      self.commit = commit.commit.rawValue
      date = Date(timeIntervalSince1970: Double(commit.time) / 1e6)
    }
  }

  /// What is not as usual.
  public enum Event: Hashable, Sendable, CustomStringConvertible {
    /// A generation begins with a new base. The text says why.
    case began(generation: Int, commit: UInt64, reason: String)
    /// The commits between these two were gone before they could be shipped: what differs is
    /// shipped as one.
    case jumped(from: UInt64, to: UInt64)
    /// A generation was older than is kept.
    case removed(generation: Int)

    init(_ notice: ShippingNotice) {
      switch notice {
      case .began(let generation, let commit, let reason):
        self = .began(
          generation: Int(generation), commit: commit.rawValue, reason: reason.description)
      case .jumped(let from, let to): self = .jumped(from: from.rawValue, to: to.rawValue)
      case .removed(let generation): self = .removed(generation: Int(generation))
      }
    }

    public var description: String {
      switch self {
      case .began(let generation, let commit, let reason):
        "generation \(generation) begins with commit \(commit): \(reason)"
      case .jumped(let from, let to):
        "the commits between \(from) and \(to) cannot be restored: they were gone before they could "
          + "be shipped"
      case .removed(let generation):
        "generation \(generation) was older than is kept, and is removed"
      }
    }
  }

  private let shipper: Mutex<CommitShipper>
  private let interval: Duration

  /// How often the log is looked at, in milliseconds: it is a ring, and is written over.
  private static let lookInterval: UInt32 = 40

  /// - Parameters:
  ///   - store: the store's file.
  ///   - folder: the folder, which is made if it is not there. It is this store's alone.
  ///   - onEvent: is called by the thread that ships.
  /// - Throws: an error of the file system if the folder cannot be made.
  public init(
    of store: URL, to folder: URL, options: Options = Options(),
    onEvent: @escaping @Sendable (Event) -> Void = { _ in }
  ) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var shipping = CommitShipper.Options()
    shipping.baseInterval = options.baseInterval.microseconds
    shipping.retention = options.retention?.microseconds
    shipping.temporaryPath =
      options.temporaryDirectory.appending(path: "quire-shipping").path(percentEncoded: false)
    interval = options.interval
    shipper = Mutex(
      CommitShipper(
        of: store.path(percentEncoded: false), to: folder.path(percentEncoded: false),
        options: shipping, now: { Int64(Date().timeIntervalSince1970 * 1e6) },
        notice: { onEvent(Event($0)) }))
  }

  /// Ships what was committed until now.
  ///
  /// - Returns: the last commit in the folder.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` if the store cannot be read, or
  ///   the folder cannot be written. What was shipped stays; call it again to go on.
  @discardableResult
  public func ship() throws -> State {
    try shipper.withLock { shipper in
      try StoreShipping.telling("the store cannot be shipped") { () throws(StorageError) in
        State(try shipper.ship())
      }
    }
  }

  /// Ships commits as they are made, on this thread, until it is told to end.
  ///
  /// - Parameter isWanted: is asked some twenty times a second. What was committed until it says no
  ///   is shipped before this returns.
  /// - Returns: the last commit in the folder.
  /// - Throws: as ``ship()``.
  @discardableResult
  public func run(while isWanted: () -> Bool) throws -> State {
    var next = ContinuousClock.now
    while isWanted() {
      do {
        try shipper.withLock { shipper in
          try StoreShipping.telling("the store cannot be shipped") {
            () throws(StorageError) in
            try shipper.collect()
            if ContinuousClock.now >= next {
              try shipper.publish()
              next = .now + interval
            }
          }
        }
      } catch let error as PersistenceError where error.isOfOvertakenState {
        // It changes faster than it can be read.
      }
      PageStore.pause(milliseconds: StoreShipping.lookInterval)
    }
    return try ship()
  }

  // MARK: Folders

  /// A base and the commits that followed, in a folder.
  public struct Generation: Hashable, Sendable {
    /// One more than that of the generation before.
    public let number: Int
    /// What can be restored first.
    public let first: State
    /// What can be restored last.
    public let last: State
    /// How many commits between the first and the last cannot be restored.
    public let missingCommitCount: Int
    /// The files beside the base.
    public let segmentCount: Int
    /// The bytes of all of it.
    public let byteCount: Int
    /// Whether it goes on from the generation before, so that there is no gap between the two.
    public let isContinued: Bool
    /// What is damaged or missing after the last commit; `nil` if nothing is.
    public let defect: String?

    init(_ generation: ShippedGeneration) {
      number = Int(generation.number)
      first = State(generation.first)
      last = State(generation.last)
      // A file that somebody has made up may say anything.
      let (first, last) = (generation.first.commit.rawValue, generation.last.commit.rawValue)
      let span = last >= first ? Int(clamping: last - first) : 0
      missingCommitCount = max(0, span - (generation.commitCount - 1))
      segmentCount = generation.segmentCount
      byteCount = generation.byteCount
      isContinued = generation.isContinued
      defect = generation.defect?.description
    }
  }

  /// What a folder has, the oldest first.
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` if the folder cannot be read.
  /// - Complexity: O(files of the folder), of which beginnings and ends are read.
  public static func generations(in folder: URL) throws -> [Generation] {
    let path = folder.path(percentEncoded: false)
    return try telling("\(path) cannot be read") { () throws(StorageError) in
      try ShippedRestoring(from: path).generations()
    }.map(Generation.init)
  }

  /// A moment in the history of a store.
  public enum Moment: Hashable, Sendable {
    /// The last commit in the folder.
    case newest
    /// The commit of that number.
    case commit(UInt64)
    /// The last commit that was seen by then.
    case date(Date)

    var inFolder: ShippedMoment {
      switch self {
      case .newest: .newest
      case .commit(let number): .commit(CommitNumber(rawValue: number))
      case .date(let date):
        .time(Int64(max(-1e18, min(1e18, (date.timeIntervalSince1970 * 1e6).rounded()))))
      }
    }
  }

  /// Makes a store as it was at some moment. It has the UUID of the store that was shipped.
  ///
  /// All that it is made of is verified, and then each of its pages.
  ///
  /// - Parameters:
  ///   - url: the new file, where there is none. To put it in the place of the store, call
  ///     ``PersistentStoreCoordinator/restorePersistentStore(at:fromBackupAt:progress:)`` with it.
  ///   - progress: called from time to time, in bytes; what it throws ends the restoration, and is
  ///     thrown on.
  /// - Returns: the commit that the new store shows.
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` if a file of the folder is
  ///   missing or damaged, which is named; if the folder does not have the moment; or if the new
  ///   file cannot be written, or is there. No file is left then.
  /// - Complexity: O(bytes of the base, of the segments up to the moment, and of the store).
  @discardableResult
  public static func restore(
    _ moment: Moment = .newest, from folder: URL, to url: URL,
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> State {
    let path = url.path(percentEncoded: false)
    var refusal: (any Error)?
    do {
      return try telling("\(path) cannot be restored") { () throws(StorageError) in
        State(
          try ShippedRestoring(from: folder.path(percentEncoded: false)).restore(
            moment.inFolder, to: path
          ) { done, total in
            do {
              try progress(StoreProgress(completedUnitCount: done, totalUnitCount: total))
              return true
            } catch {
              refusal = error
              return false
            }
          })
      }
    } catch {
      throw refusal ?? error
    }
  }

  private static func telling<R>(
    _ failure: String, _ body: () throws(StorageError) -> R
  ) throws -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      throw PersistenceError(
        .persistentStoreOperation, failure, orUnknown: "whether this was written to the disk", error
      )
    }
  }
}

extension Duration {
  fileprivate var microseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}
