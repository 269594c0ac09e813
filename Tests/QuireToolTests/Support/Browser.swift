import Foundation
import Testing

/// A browser without a window, which shows a page and runs its scripts.
struct Browser {
  /// Where Debian and others have Chromium.
  private static let program = [
    "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isPresent: Bool { program != nil }

  /// Why a test is skipped without it.
  static let absence = "needs Chromium: Debian's package chromium"

  let folder: TemporaryFolder

  /// The document after its scripts have run, as HTML.
  func document(of file: String, at fragment: String = "") throws -> String {
    struct NoBrowser: Error {}
    guard let program = Self.program else { throw NoBrowser() }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--no-first-run", "--disable-background-networking",
      "--user-data-dir=\(folder.path("profile"))", "--virtual-time-budget=4000",
      "--timeout=20000", "--dump-dom", URL(filePath: file).absoluteString + fragment,
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  /// What a script finds that runs in the page: the value that it returns, as JSON.
  ///
  /// The script can wait with `await settled()` until the page has followed an address.
  func result(of script: String, in file: String, at fragment: String = "") throws -> Any {
    let page = try String(contentsOfFile: file, encoding: .utf8)
    let probe = """
      <script>
      const settled = () => new Promise(done => setTimeout(done, 60));
      (async () => {
        let result;
        try {
          result = await (async () => { \(script) })();
        } catch (error) {
          result = String(error);
        }
        const output = document.createElement("output");
        output.id = "result";
        // As ASCII: nothing on the way may take a sign for its own.
        output.textContent = encodeURIComponent(JSON.stringify(result).replace(/[^ -~]/g,
          sign => "\\\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0")));
        document.body.append(output);
      })();
      </script>
      </body>
      """
    let copy = folder.path("probe.html")
    try page.replacing("</body>", with: probe).write(
      toFile: copy, atomically: true, encoding: .utf8)
    let document = try document(of: copy, at: fragment)
    let match = try #require(
      document.firstMatch(of: /<output id="result">([^<]*)</), "\(document.suffix(500))")
    let json = try #require(String(match.1).removingPercentEncoding)
    return try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
  }
}
