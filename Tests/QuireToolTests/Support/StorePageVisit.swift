import Foundation
import QuireTool

/// What is done with a page of `quire show` in a browser, and what its script then finds.
enum StorePageVisit: CaseIterable {
  case links, table, longTable, map, hostile, damaged, lossy

  /// All of them, by their order.
  static func results() throws -> [Data] {
    let folder = try TemporaryFolder()
    return try Browser.results(
      of: allCases.map { visit in
        let file = folder.path("\(visit).html")
        let run = ToolRun(
          ["show", try visit.store(in: folder), "--to", file, "--open", "no"] + visit.options)
        if run.code == .wrongUsage { throw NoPage(reason: run.errors) }
        return Browser.Visit(file: file, fragment: visit.fragment, script: visit.script)
      })
  }

  private struct NoPage: Error { var reason: String }

  private func store(in folder: TemporaryFolder) throws -> String {
    switch self {
    case .links, .table, .map: Fixtures.store("Gallery 2.7")
    case .longTable: try Shop(in: folder).path
    case .hostile: try ShowCommandTests.hostileStore(in: folder)
    case .lossy: try Self.lossyStore(in: folder)
    case .damaged: Fixtures.folder.appending(path: "Damaged/damaged-map.quire").path
    }
  }

  /// A store whose first leaf of rows of Artwork is damaged.
  static func lossyStore(in folder: TemporaryFolder) throws -> String {
    let store = try folder.fixture("Gallery 2.7")
    try folder.damage(store) { $0[12 * 4096 + 300] ^= 1 }
    return store
  }

  private var options: [String] {
    switch self {
    case .longTable: ["--limit", "55"]
    case .lossy: ["--limit", "5"]
    default: []
    }
  }

  private var fragment: String {
    switch self {
    case .longTable: "#/entity/Work"
    case .map: "#/pages"
    case .lossy: "#/entity/Artwork"
    default: ""
    }
  }

  private var script: String {
    switch self {
    case .links:
      #"""
      const log = [];
      const follow = async link => {
        log.push(link.getAttribute("href"), link.textContent);
        link.dispatchEvent(
          new MouseEvent("click", { bubbles: true, cancelable: true, view: window }));
        await settled();
        log.push(location.hash, document.querySelector("h1").textContent, document.title);
      };
      log.push(document.querySelector("h1").textContent);
      await follow(document.querySelector('svg a[href="#/entity/Artist"]'));
      await follow(document.querySelector('th[scope=row] a[href^="#/object/Artist/"]'));
      await follow(document.querySelector('a[href^="#/object/Artwork/"]'));
      log.push(`${document.querySelectorAll('a[href="#/entity/Artwork"]').length}`);
      const textAt = async address => {
        location.hash = address;
        await settled();
        return document.querySelector("main").textContent;
      };
      const [number, name] = [await textAt("#/object/Artist/3"), await textAt("#/object/Artist/p3")];
      log.push(number === name ? "same" : name, name.includes("does not have") ? "gone" : "there");
      return log;
      """#
    case .table:
      #"""
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
    case .longTable:
      #"""
      const rows = () => document.querySelectorAll("table:not(.object) tbody tr").length;
      const log = [rows()];
      document.querySelector("[data-turn='Next page']").click();
      log.push(rows(), location.hash, document.activeElement.getAttribute("aria-label"));
      history.back();
      await settled();
      log.push(rows(), document.querySelector(".notice").textContent);
      return log;
      """#
    case .map:
      #"""
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
    case .hostile:
      #"""
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
    case .lossy:
      #"""
      const notices = () => [...document.querySelectorAll(".notice")].map(one => one.innerText);
      const found = { artworks: notices(), rows: document.querySelectorAll("tbody tr").length };
      location.hash = "#/entity/Image";
      await settled();
      found.images = notices();
      return found;
      """#
    case .damaged:
      #"""
      const log = [document.body.innerText];
      location.hash = "#/entity/None";
      await settled();
      return [...log, document.body.innerText];
      """#
    }
  }
}
