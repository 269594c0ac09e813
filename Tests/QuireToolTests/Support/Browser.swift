import Foundation
import Testing

/// A browser without a window, which shows pages and runs their scripts.
enum Browser {
  /// Where Debian and others have Chromium.
  private static let program = [
    "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isPresent: Bool { program != nil }

  /// Why a test is skipped without it.
  static let absence = "needs Chromium: Debian's package chromium"

  /// A page that is shown, and a script that runs in it.
  ///
  /// The script returns what it finds, as JSON has it. It can wait with `await settled()` until the
  /// page has followed an address.
  struct Visit {
    var file: String
    /// Where on the page it begins.
    var fragment = ""
    var script: String
  }

  /// What the script of each visit finds, as JSON.
  ///
  /// One browser makes all visits, each in a frame of its own, one after the other: a browser
  /// takes more than a second of processor time to start.
  static func results(of visits: [Visit]) throws -> [Data] {
    let folder = try TemporaryFolder()
    var addresses: [String] = []
    for (index, visit) in visits.enumerated() {
      let page = try String(contentsOfFile: visit.file, encoding: .utf8)
      let copy = folder.path("visit-\(index).html")
      try page.replacing("</body>", with: probe(of: visit.script)).write(
        toFile: copy, atomically: true, encoding: .utf8)
      addresses.append(URL(filePath: copy).absoluteString + visit.fragment)
    }
    let shell = folder.path("visits.html")
    try tour(of: addresses).write(toFile: shell, atomically: true, encoding: .utf8)
    let document = try document(of: shell, profile: folder.path("profile"))
    let match = try #require(
      document.firstMatch(of: /<output id="results">([^<]*)</), "\(document.suffix(500))")
    let json = try #require(String(match.1).removingPercentEncoding)
    return try JSONDecoder().decode([String].self, from: Data(json.utf8)).map { Data($0.utf8) }
  }

  /// The document after its scripts have run, as HTML.
  private static func document(of file: String, profile: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: try #require(program))
    process.arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--no-first-run", "--disable-background-networking", "--user-data-dir=\(profile)",
      "--virtual-time-budget=30000", "--timeout=60000", "--dump-dom",
      URL(filePath: file).absoluteString,
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  /// A script that runs another at the end of a page, and sends what that finds to the tour.
  private static func probe(of script: String) -> String {
    """
    <script>
    const settled = () => new Promise(done => setTimeout(done, 60));
    (async () => {
      let result;
      try {
        result = await (async () => { \(script) })();
      } catch (error) {
        result = String(error);
      }
      // As ASCII: nothing on the way may take a sign for its own.
      parent.postMessage(JSON.stringify(result).replace(/[^ -~]/g,
        sign => "\\\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0")), "*");
    })();
    </script>
    </body>
    """
  }

  /// A page that shows others one after the other, and has what their scripts find in the end.
  private static func tour(of addresses: [String]) -> String {
    """
    <!DOCTYPE html>
    <meta charset="utf-8">
    <body>
    <script>
    (async () => {
      const results = [];
      for (const address of \(addresses)) {
        const answer = new Promise(done => {
          addEventListener("message", message => done(message.data), { once: true });
          setTimeout(() => done('"no answer"'), 4000);
        });
        const frame = document.createElement("iframe");
        frame.width = 1200;
        frame.height = 900;
        frame.src = address;
        document.body.append(frame);
        results.push(await answer);
        frame.remove();
      }
      const output = document.createElement("output");
      output.id = "results";
      output.textContent = encodeURIComponent(JSON.stringify(results));
      document.body.append(output);
    })();
    </script>
    """
  }
}
