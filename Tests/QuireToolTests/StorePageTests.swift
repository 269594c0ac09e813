import Foundation
import QuireTool
import Testing

/// The page of `quire show` in a browser.
@Suite(.enabled(if: Browser.isPresent, "\(Browser.absence)"), .serialized)
struct StorePageTests {
  private let folder: TemporaryFolder
  private let browser: Browser

  init() throws {
    folder = try TemporaryFolder()
    browser = Browser(folder: folder)
  }

  private func page(of store: String, _ options: String...) throws -> String {
    let file = folder.path("page.html")
    let run = ToolRun(["show", store, "--to", file, "--open", "no"] + options)
    #expect(run.code != .wrongUsage)
    return file
  }

  private func heading(of document: String) -> String? {
    document.firstMatch(of: /<h1[^>]*>([^<]*)/).map { String($0.1) }
  }

  @Test func `links lead from the diagram to an entity, an object, and what it is related to`()
    throws
  {
    let file = try page(of: Fixtures.store("Gallery 2.7"))
    let overview = try browser.document(of: file)
    #expect(heading(of: overview) == "Gallery 2.7.quire")
    let diagram = try #require(overview.range(of: "<svg")).lowerBound
    let first = try #require(overview[diagram...].firstMatch(of: /href="(#\/entity\/Artist)"/))

    let entity = try browser.document(of: file, at: String(first.1))
    #expect(heading(of: entity) == "Artist")
    #expect(entity.contains("<title>Artist – Gallery 2.7.quire</title>"))
    let second = try #require(
      entity.firstMatch(of: /<th scope="row"[^>]*><a href="(#\/object\/Artist\/\d+)"/))

    let object = try browser.document(of: file, at: String(second.1))
    let third = try #require(object.firstMatch(of: /<a href="(#\/object\/Artwork\/\d+)">([^<]*)/))
    let related = try browser.document(of: file, at: String(third.1))
    #expect(heading(of: related) == String(third.2))
    #expect(related.contains("href=\"#/entity/Artwork\""))
  }

  @Test func `a table is filtered and sorted, and back and forward keep that`() throws {
    let file = try page(of: Fixtures.store("Gallery 2.7"))
    let script = #"""
      const log = {};
      const key = (key, target = document.activeElement) =>
        target.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      const column = name => [...document.querySelectorAll("thead th")]
        .findIndex(header => header.textContent === name);
      const cells = name => [...document.querySelectorAll("table:not(.object) tbody tr")]
        .map(row => row.cells[column(name)].textContent);
      document.querySelector('svg a[href="#/entity/Artwork"]')
        .dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window }));
      await settled();
      log.heading = document.querySelector("h1").textContent;
      log.focus = document.activeElement.tagName;
      key("/");
      log.filterFocus = document.activeElement.id;
      const field = document.getElementById("filter");
      field.value = "paper";
      field.dispatchEvent(new Event("input"));
      log.filtered = cells("category");
      document.querySelectorAll("thead th button")[column("rating")].click();
      document.querySelectorAll("thead th button")[column("rating")].click();
      log.ratings = cells("rating").map(Number);
      log.sort = document.querySelectorAll("thead th")[column("rating")].getAttribute("aria-sort");
      log.address = location.hash;
      field.focus();
      key("ArrowDown");
      key("ArrowDown");
      log.row = [...document.querySelectorAll("table:not(.object) tbody tr")]
        .findIndex(row => row.contains(document.activeElement));
      document.activeElement.click();
      await settled();
      log.object = location.hash.startsWith("#/object/Artwork/");
      const followed = location.hash;
      history.back();
      await settled();
      log.returned = document.activeElement.getAttribute("href") === followed;
      log.again = [location.hash, cells("rating").map(Number).join()];
      history.forward();
      await settled();
      log.forward = location.hash.startsWith("#/object/Artwork/");
      return log;
      """#
    let log = try #require(try browser.result(of: script, in: file) as? [String: Any])
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
    let shop = try Shop(in: folder)
    let file = try page(of: shop.path, "--limit", "55")
    let script = #"""
      const rows = () => document.querySelectorAll("table:not(.object) tbody tr").length;
      const log = [rows()];
      document.querySelector("[data-turn='Next page']").click();
      log.push(rows(), location.hash, document.activeElement.getAttribute("aria-label"));
      history.back();
      await settled();
      log.push(rows(), document.querySelector(".notice").textContent);
      return log;
      """#
    let log = try #require(
      try browser.result(of: script, in: file, at: "#/entity/Work") as? [AnyHashable])
    #expect(
      log == [
        50, 5, "#/entity/Work?page=2", "First page", 50,
        "This page has 55 of 60 objects: 5 are left out. quire show --limit N takes more.",
      ])
  }

  @Test func `the map of pages is walked through with the arrow keys`() throws {
    let file = try page(of: Fixtures.store("Gallery 2.7"))
    let script = #"""
      const canvas = document.querySelector("canvas");
      const live = document.getElementById("live");
      const press = key => {
        canvas.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        return live.textContent;
      };
      canvas.focus();
      const texts = [live.textContent, press("ArrowRight"), press("End"), press("Home")];
      document.querySelector("input[value=tree]").click();
      const legend = [...document.querySelectorAll(".legend button")].map(item => item.textContent);
      document.querySelector(".legend button").click();
      const pressed = document.querySelectorAll(".legend [aria-pressed=true]").length;
      return { texts, legend, pressed, size: [canvas.clientWidth, canvas.clientHeight] };
      """#
    let result = try #require(
      try browser.result(of: script, in: file, at: "#/pages") as? [String: Any])
    let texts = try #require(result["texts"] as? [String])
    #expect(texts[0].hasPrefix("Page 0: identity") && texts[1].hasPrefix("Page 1: meta"))
    #expect(texts[2].hasPrefix("Page 50: record leaf, tree keys (Counters of keys)"))
    #expect(texts[3] == texts[0])
    let legend = try #require(result["legend"] as? [String])
    #expect(legend.contains("Rows of Image5") && result["pressed"] as? Int == 1, "\(legend)")
    #expect((result["size"] as? [Int])?.allSatisfy { $0 > 0 } == true)
  }

  @Test func `texts of a store are shown, and never run`() throws {
    let file = try page(of: try ShowCommandTests.hostileStore(in: folder))
    let script = #"""
      const entity = data.entities[0];
      location.hash = `#/entity/${encodeURIComponent(entity.name)}`;
      await settled();
      const shown = [...document.querySelectorAll("table:not(.object) tbody tr")]
        .map(row => row.cells[1].textContent);
      const heading = document.querySelector("h1").textContent;
      document.querySelectorAll("table:not(.object) tbody a")[1].click();
      await settled();
      const elements = document.querySelectorAll("img, b, i, iframe").length;
      const links = [...document.querySelectorAll("a")].map(link => link.getAttribute("href"));
      return { shown, heading, elements, title: document.title,
        wrong: links.filter(address => !address.startsWith("#")) };
      """#
    let result = try #require(try browser.result(of: script, in: file) as? [String: Any])
    #expect(result["heading"] as? String == ShowCommandTests.hostileModel.entities.first?.name)
    #expect(result["shown"] as? [String] == ShowCommandTests.hostileTexts)
    #expect(result["elements"] as? Int == 0)
    #expect(result["wrong"] as? [String] == [])
    #expect((result["title"] as? String)?.contains("owned") == false)
  }

  @Test func `a damaged store and one without objects are shown as far as they go`() throws {
    let file = try page(of: Fixtures.folder.appending(path: "Damaged/damaged-map.quire").path)
    let document = try browser.document(of: file)
    #expect(document.contains("page 3: its checksum is wrong"))
    #expect(try browser.document(of: file, at: "#/entity/None").contains("There is nothing here"))
  }
}
