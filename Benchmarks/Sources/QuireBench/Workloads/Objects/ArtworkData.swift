/// The content of the gallery, made before anything is timed: 1,000 artists, and artworks with ids
/// from 1.
struct ArtworkData {
  static let artistCount = 1_000

  /// By id - 1.
  let titles: [String]
  let slugs: [String]

  init(count: Int) {
    titles = (1...count).map(Self.title)
    slugs = (1...count).map(Self.slug)
  }

  static func title(_ id: Int) -> String { "Untitled study no. \(id.padded(5))" }
  static func slug(_ id: Int) -> String {
    "slug-" + Int(mix(UInt64(id)) % 100_000 * 1_000_000 + UInt64(id)).padded(11)
  }

  /// Each slug begins with one of these.
  static var slugBeginnings: [String] { (0..<10_000).map { "slug-" + $0.padded(4) } }

  static func artistName(_ id: Int) -> String { "Artist \(id.padded(4))" }
  static func price(_ id: Int) -> Double { Double(mix(UInt64(id)) % 1_000_000) / 100 }
  /// Seconds since 2001.
  static func createdAt(_ id: Int) -> Double { 7e8 + Double(mix(UInt64(id + 7)) % 100_000_000) }
  static func isPublished(_ id: Int) -> Bool { id & 1 == 1 }
  static func artist(_ id: Int) -> Int { id % artistCount + 1 }
  /// The artwork that the update number `index` changes.
  static func updated(_ index: Int, of count: Int) -> Int { index * 7919 % count + 1 }
  /// How many are inserted between two saves, where not all are saved at once.
  static let batchCount = 1_000

  // MARK: Filters

  static let filterCount = 20
  static let filterLimit = 1_000
  static func filterPrice(_ index: Int) -> Double { Double(index * 450) }

  /// What a filter found.
  struct Found: Equatable {
    var count: Int
    /// When the last one was created.
    var last: Double
  }

  static func expectedFilters(count: Int) -> [Found] {
    (0..<filterCount).map { index in
      let dates = (1...count).filter { price($0) > filterPrice(index) }.map(createdAt).sorted()
      let found = dates.prefix(filterLimit)
      return Found(count: found.count, last: found.last ?? 0)
    }
  }

  // MARK: Groups

  static let groupingCount = 10
  /// How often the artworks of each artist are counted. The first time reads all pages.
  static let countingRounds = 10

  /// What was told of groups, added up.
  struct Groups: Equatable {
    private var groupCount = 0
    private var count = 0
    private var cents = 0
    /// Smaller than any digit of an average: engines that add up in other ways agree.
    private var averageMillionths = 0

    @inline(__always)
    mutating func add(count: Int, sum: Double, average: Double) {
      groupCount += 1
      self.count += count
      cents += Int((sum * 100).rounded())
      averageMillionths += Int((average * 1e6).rounded())
    }
  }

  static func expectedGroups(count: Int, rounds: Int = groupingCount) -> Groups {
    var groups = Groups()
    var prices: [[Double]] = Array(repeating: [], count: artistCount)
    for id in 1...count { prices[artist(id) - 1].append(price(id)) }
    for _ in 0..<rounds {
      for prices in prices where !prices.isEmpty {
        let sum = prices.reduce(0, +)
        groups.add(count: prices.count, sum: sum, average: sum / Double(prices.count))
      }
    }
    return groups
  }

  // MARK: Updates

  static func newPrice(_ price: Double) -> Double { price + 1 }
}

/// What was read of artworks, added up.
struct ArtworkSum: Equatable, CustomStringConvertible {
  private var count = 0
  private var textByteCount = 0
  private var firstBytes = 0
  private var cents = 0
  private var seconds = 0.0
  private var publishedCount = 0
  private var artistCount = 0

  /// - Parameters:
  ///   - first: the first byte of the title and that of the slug, added up.
  ///   - hasArtist: which artist it is, is compared outside the timed part.
  @inline(__always)
  mutating func add(
    textByteCount: Int, first: Int, price: Double, createdAt: Double, isPublished: Bool,
    hasArtist: Bool
  ) {
    count += 1
    self.textByteCount += textByteCount
    firstBytes += first
    cents += Int((price * 100).rounded())
    seconds += createdAt
    publishedCount += isPublished ? 1 : 0
    artistCount += hasArtist ? 1 : 0
  }

  /// - Parameter updatedCount: how many updates were made.
  static func expected(_ data: ArtworkData, updatedCount: Int = 0) -> ArtworkSum {
    var prices = (1...data.titles.count).map(ArtworkData.price)
    for index in 0..<updatedCount {
      let id = ArtworkData.updated(index, of: prices.count)
      prices[id - 1] = ArtworkData.newPrice(prices[id - 1])
    }
    var sum = ArtworkSum()
    for id in 1...data.titles.count {
      let (title, slug) = (data.titles[id - 1].utf8, data.slugs[id - 1].utf8)
      sum.add(
        textByteCount: title.count + slug.count, first: title.firstNumber + slug.firstNumber,
        price: prices[id - 1], createdAt: ArtworkData.createdAt(id),
        isPublished: ArtworkData.isPublished(id), hasArtist: true)
    }
    return sum
  }

  /// The same, whatever the order in which seconds were added up.
  func isAlmost(_ other: ArtworkSum) -> Bool {
    var same = self
    same.seconds = other.seconds
    return same == other && abs(seconds - other.seconds) <= abs(other.seconds) * 1e-9
  }

  var description: String {
    "\(count) artworks, \(textByteCount) bytes of text, \(firstBytes), \(cents) cents, \(seconds) s, "
      + "\(publishedCount) published, \(artistCount) with artist"
  }
}

extension Collection<UInt8> {
  /// The first byte as a number; 0 when there is none.
  @inline(__always)
  var firstNumber: Int { first.map(Int.init) ?? 0 }
}

extension Run {
  /// Stops the run when a sum is not what was written, in another order.
  func expectAlmost(_ found: ArtworkSum, _ expected: ArtworkSum, _ what: String) throws {
    guard !found.isAlmost(expected) else { return }
    throw BenchmarkError("\(what): found \(found), expected \(expected)")
  }
}
