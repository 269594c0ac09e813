import Foundation
import QuireTool
import Testing

/// The page of `quire show` in a browser.
@Suite(.enabled(if: Browser.isPresent, "\(Browser.absence)"))
struct StorePageTests {
  private static let results = Result { try StorePageVisit.results() }

  /// What the script of a visit finds.
  private func result(of visit: StorePageVisit) throws -> Any {
    let index = try #require(StorePageVisit.allCases.firstIndex(of: visit))
    return try JSONSerialization.jsonObject(
      with: Self.results.get()[index], options: .fragmentsAllowed)
  }

  @Test func `links lead from the diagram to an entity, an object, and what it is related to`()
    throws
  {
    let found = try result(of: .links)
    let log = try #require(found as? [String], "\(found)")
    try #require(log.count == 19)
    #expect(log[0] == "Gallery 2.7.quire")
    #expect(log[1] == "#/entity/Artist" && log[3] == log[1])
    #expect(log[4] == "Artist" && log[5] == "Artist – Gallery 2.7.quire")
    #expect(log[8] == log[6] && log[13] == log[11], "\(log)")
    #expect(log[14] == log[12], "the object's heading is the text of the link that leads to it")
    #expect(log[16] != "0", "a related object leads to its entity")
    #expect(Array(log[17...]) == ["same", "there"], "an address with a p, as in an object's ID")
  }

  @Test func `a table is filtered and sorted, and back and forward keep that`() throws {
    let log = try #require(try result(of: .table) as? [String: Any])
    #expect(log["heading"] as? String == "Artwork")
    #expect(log["focus"] as? String == "H1")
    #expect(log["filterFocus"] as? String == "filter")
    let filtered = try #require(log["filtered"] as? [String])
    #expect(filtered.count > 1 && filtered.count < 27)
    let ratings = try #require(log["ratings"] as? [Int])
    #expect(ratings.count == filtered.count && ratings == ratings.sorted(by: >))
    #expect(log["sort"] as? String == "descending")
    #expect(log["address"] as? String == "#/entity/Artwork?sort=rating&down=1&filter=paper")
    #expect(log["row"] as? Int == 1)
    #expect(log["object"] as? Bool == true && log["forward"] as? Bool == true)
    #expect(log["returned"] as? Bool == true)
    let again = try #require(log["again"] as? [String])
    #expect(
      again == [log["address"] as? String ?? "", ratings.map { "\($0)" }.joined(separator: ",")])
  }

  @Test func `a long table has pages, and says how many objects are left out`() throws {
    let log = try #require(try result(of: .longTable) as? [AnyHashable])
    #expect(
      log == [
        50, 5, "#/entity/Work?page=2", "First page", 50,
        "This page has 55 of 60 objects: 5 are left out. quire show --limit N takes more.",
      ])
  }

  @Test func `the map of pages is walked through with the arrow keys`() throws {
    let result = try #require(try result(of: .map) as? [String: Any])
    let texts = try #require(result["texts"] as? [String])
    #expect(texts[0].hasPrefix("Page 0: identity") && texts[1].hasPrefix("Page 1: meta"))
    #expect(texts[2].hasPrefix("Page 50: record leaf, tree keys (Counters of keys)"))
    #expect(texts[3] == texts[0])
    let legend = try #require(result["legend"] as? [String])
    #expect(legend.contains("Rows of Image5") && result["pressed"] as? Int == 1, "\(legend)")
    #expect((result["size"] as? [Int])?.allSatisfy { $0 > 0 } == true)
  }

  @Test func `texts of a store are shown, and never run`() throws {
    let result = try #require(try result(of: .hostile) as? [String: Any])
    #expect(result["heading"] as? String == ShowCommandTests.hostileModel.entities.first?.name)
    #expect(result["shown"] as? [String] == ShowCommandTests.hostileTexts)
    #expect(result["elements"] as? Int == 0)
    #expect(result["wrong"] as? [String] == [])
    #expect((result["title"] as? String)?.contains("owned") == false)
  }

  @Test func `a damaged store and one without objects are shown as far as they go`() throws {
    let texts = try #require(try result(of: .damaged) as? [String])
    #expect(texts.first?.contains("page 3: its checksum is wrong") == true)
    #expect(texts.last?.contains("There is nothing here") == true)
  }

  @Test func `the page reports lost objects above those shown, apart from those left out`() throws {
    let found = try #require(try result(of: .lossy) as? [String: Any])
    let artworks = try #require(found["artworks"] as? [String])
    #expect(artworks.count == 2)
    #expect(
      artworks.first?.hasPrefix(
        "Not all objects of Artwork can be read. 5 objects of it are shown.\n"
          + "18 objects of Artwork lost, among them p1, p2, p3") == true, "\(artworks)")
    #expect(
      artworks.last
        == "This page has 5 of 27 objects: 4 are left out. quire show --limit N takes more.")
    let images = try #require(found["images"] as? [String])
    #expect(
      images.first?.hasPrefix(
        "The objects of Image can be read, but not all of their links and values.\n"
          + "Image/p1.mainImageForArtwork referred to Artwork/p11, which is lost") == true,
      "\(images)")
  }
}
