import Foundation
import Quire
import QuireModel
import QuireStorage

// A page that shows a store: one HTML file with everything in it.
//
//   StorePageContent   what is known of the store, as one JSON value
//   EntityListing      the objects of an entity and their values in it
//   PageCells          the pages of the file in it
//   StorePage          the file: style and script, which are literals in Swift files, so that the
//                      tool stays one file, the diagram, and the JSON value
//
// The script makes elements and sets their text; nothing of a store is ever read as HTML or as
// code. The page loads nothing: its content security policy forbids it.

/// The HTML file that shows a store.
struct StorePage {
  /// The beginning of every such file.
  static let start = "<!doctype html>\n<!-- A page of quire show. -->\n"

  let content: StorePageContent

  var text: String {
    let title = MarkupText.escaped(content.name)
    return Self.start + """
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
      style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
      <title>\(title)</title>
      <style>
      \(Self.style)</style>
      </head>
      <body>
      <a class="skip" href="#main">Skip to the content</a>
      <header>
      <a class="brand" href="#/">\(title)</a>
      <button id="menu" type="button" aria-expanded="false" aria-controls="nav">Contents</button>
      </header>
      <nav id="nav" aria-label="Contents"></nav>
      <main id="main" tabindex="-1"><noscript><p>This page is made by a script, which is not run.
      The diagram below is shown without it.</p></noscript></main>
      <div id="diagram">
      \(diagram)</div>
      <p id="live" class="spoken" role="status"></p>
      <script type="application/json" id="data">\(Self.embedded(content.json))</script>
      <script>
      "use strict";
      \(Self.elementScript)
      \(Self.valueScript)
      \(Self.tableScript)
      \(Self.viewScript)
      \(Self.pageMapScript)
      \(Self.routerScript)</script>
      </body>
      </html>

      """
  }

  private var diagram: String {
    guard let model = content.model, !model.entities.isEmpty else {
      return "<p>There is no model to draw.</p>\n"
    }
    let drawing = DiagramDrawing(
      of: ModelDiagram(of: model), title: "Entities of \(content.name)"
    ) { "#/entity/\(Self.addressPart($0))" }
    return drawing.text(isAlone: false)
  }

  /// A name as a part of an address, escaped like JavaScript's `encodeURIComponent`.
  static func addressPart(_ name: String) -> String {
    var allowed = CharacterSet(charactersIn: "-_.!~*'()")
    allowed.insert(charactersIn: "a"..."z")
    allowed.insert(charactersIn: "A"..."Z")
    allowed.insert(charactersIn: "0"..."9")
    return name.addingPercentEncoding(withAllowedCharacters: allowed) ?? name
  }

  /// JSON that can stand in a script element: nothing in it ends the element, begins a comment, or
  /// is a line end for one reader and none for another.
  static func embedded(_ json: JSONValue) -> String {
    var result = ""
    for scalar in json.lineText.unicodeScalars {
      switch scalar {
      case "<", ">", "&", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
