extension PortedFile {
  /// Modules of Apple's platforms that stay as they are.
  private static let otherModules: Set<String> = [
    "AppKit", "CloudKit", "Cocoa", "Combine", "Contacts", "CoreGraphics", "CoreLocation",
    "CoreSpotlight", "EventKit", "MapKit", "OSLog", "PhotosUI", "StoreKit", "SwiftUI", "UIKit",
    "UserNotifications", "WatchConnectivity", "WatchKit", "WidgetKit", "os",
  ]

  /// Imports `QuireCoreData` in the place of `CoreData`, and Foundation, which `CoreData` exports.
  mutating func portImports() {
    let imports = declarations.filter { $0.kind == .import }
    var withFoundation: [[String]] = imports.filter { $0.name == "Foundation" }.map(\.conditions)
    var ported: [[String]] = []
    for declaration in imports {
      let module = declaration.name.prefix { $0 != "." }
      if Self.otherModules.contains(String(module)), usesCoreData {
        record(
          "import \(module)", atToken: declaration.keyword,
          "left as it is; it exists on Apple's platforms alone")
      }
      guard module == "CoreData" else { continue }
      if ported.contains(declaration.conditions), isAloneOnItsLine(declaration) {
        let line = source.line(ofToken: declaration.keyword)
        edits.remove(lines: line...line)
        continue
      }
      ported.append(declaration.conditions)
      edits.replace(
        bytes(of: declaration.keyword..<declaration.tokens.upperBound),
        with: "import QuireCoreData")
      let access = access(of: declaration).map { "\($0) " } ?? ""
      let conditions = declaration.conditions
      if withFoundation.contains(where: { conditions.starts(with: $0) }) { continue }
      withFoundation.append(conditions)
      let line = source.line(ofToken: declaration.tokens.lowerBound)
      edits.insert(
        "\(access)import Foundation" + source.newline + source.indentation(ofLine: line),
        at: source.tokens[declaration.tokens.lowerBound].range.lowerBound)
    }
    importAfter(imports)
  }

  /// Imports `QuireCoreData` in a file that sees Core Data through another import, or Foundation's
  /// transformers.
  private mutating func importAfter(_ imports: [SwiftDeclaration]) {
    guard usesCoreData, !importsCoreData, !isManifest else { return }
    let all = imports.filter(\.conditions.isEmpty)
    let plain = all.filter { $0.attributes.isEmpty }
    guard let last = plain.last ?? all.last else { return }
    // Where they are in order, they stay in order.
    if plain.map(\.name) == plain.map(\.name).sorted(),
      let next = plain.first(where: { $0.name > "QuireCoreData" }) ?? (plain.isEmpty ? all[0] : nil)
    {
      let line = source.line(ofToken: next.tokens.lowerBound)
      edits.insert(
        "import QuireCoreData" + source.newline + source.indentation(ofLine: line),
        at: source.tokens[next.tokens.lowerBound].range.lowerBound)
      return
    }
    let line = source.line(ofToken: last.tokens.lowerBound)
    edits.insert(
      source.newline + source.indentation(ofLine: line) + "import QuireCoreData",
      at: source.tokens[last.tokens.upperBound - 1].range.upperBound)
  }

  private func isAloneOnItsLine(_ declaration: SwiftDeclaration) -> Bool {
    tokens(aroundToken: declaration.keyword).allSatisfy {
      source.tokens[$0].kind == .whitespace || declaration.tokens.contains($0)
    }
  }
}
