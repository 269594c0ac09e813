/// The content of stores of a thousand to ten million artworks, none of which is in memory before
/// it is written.
///
/// Prices, dates and artists are those of ``ArtworkData``; slugs are unique at every size.
enum ScaleData {
  /// How many artworks are looked up one by one.
  static let lookupCount = 10_000
  /// How many of them one context, or one transaction, looks up before a new one does: a server
  /// has one for each of its requests.
  static let lookupsPerContext = 1_000
  /// How many artists' artworks are fetched, changed and deleted.
  static let artistCount = 10
  static let scanPrice = 9_000.0

  private static let slugDigitCount = 10

  /// The digits of the slug, in no order.
  private static func number(_ id: Int) -> Int { Int(mix(UInt64(id)) % 10_000_000_000) }

  static func slug(_ id: Int) -> String {
    "slug-" + number(id).padded(slugDigitCount) + "-" + id.padded(8)
  }

  /// The ids that are looked up, in no order.
  static func lookups(of count: Int) -> [Int] {
    (0..<lookupCount).map { Int(mix(UInt64($0) &+ 1 << 40) % UInt64(count)) + 1 }
  }

  /// What takes no time at all is done so often that what a process does for the first time does
  /// not count.
  static func rounds(of operationCount: Int) -> Int { max(1, 20_000 / max(1, operationCount)) }

  /// The artists whose artworks are deleted are others than those whose prices change.
  static var updatedArtists: Range<Int> { 0..<artistCount }
  static var deletedArtists: Range<Int> { artistCount..<2 * artistCount }

  // MARK: Beginnings of slugs

  /// Beginnings that ten slugs have, on average.
  struct Beginnings {
    let texts: [String]
    private let step: Int
    private let divisor: Int

    init(of count: Int) {
      // A thousand objects share ten to the power of two beginnings, and so on.
      var (digitCount, beginningCount) = (1, 10)
      while beginningCount * 100 <= count {
        digitCount += 1
        beginningCount *= 10
      }
      let usedCount = min(1_000, beginningCount)
      let step = beginningCount / usedCount
      texts = (0..<usedCount).map { "slug-" + ($0 * step).padded(digitCount) }
      self.step = step
      divisor = (digitCount..<slugDigitCount).reduce(1) { power, _ in power * 10 }
    }

    /// Whether an artwork's slug has one of them.
    func match(_ id: Int) -> Bool {
      let beginning = number(id) / divisor
      return beginning % step == 0 && beginning / step < texts.count
    }
  }

  // MARK: What is to be found

  static func expected(_ ids: some Sequence<Int>) -> ArtworkSum {
    var sum = ArtworkSum()
    for id in ids {
      let (title, slug) = (ArtworkData.title(id).utf8, slug(id).utf8)
      sum.add(
        textByteCount: title.count + slug.count, first: title.firstNumber + slug.firstNumber,
        price: ArtworkData.price(id), createdAt: ArtworkData.createdAt(id),
        isPublished: ArtworkData.isPublished(id), hasArtist: true)
    }
    return sum
  }

  /// Of artists by their numbers from 0.
  static func ids(of artists: Range<Int>, in count: Int) -> some Sequence<Int> {
    (1...count).lazy.filter { artists.contains(ArtworkData.artist($0) - 1) }
  }

  static func expectedScan(count: Int) -> ArtworkData.Found {
    let dates = (1...count).lazy.filter { ArtworkData.price($0) > scanPrice }
      .map(ArtworkData.createdAt).sorted().prefix(ArtworkData.filterLimit)
    return ArtworkData.Found(count: dates.count, last: dates.last ?? 0)
  }
}
