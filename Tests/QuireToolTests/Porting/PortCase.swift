import Foundation
import QuireTool
import Testing

/// A case of `PortCases`: files before and after the port, and what is found.
struct PortCase: CustomTestStringConvertible {
  typealias Files = [(path: String, bytes: [UInt8])]

  var name: String
  var before: [String: String] = [:]
  /// All files, also those that do not change.
  var after: [String: String] = [:]
  var findings: [String] = []

  var testDescription: String { name }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "PortCases")

  static let all: [PortCase] = {
    let names = try! FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try! names.sorted().map { name in
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return PortCase(String(name.prefix { $0 != "." }), text)
    }
  }()

  private init(_ name: String, _ text: String) {
    self.name = name
    var (gone, changed): (Set<String>, [String: String]) = ([], [:])
    for section in text.split(separator: "\n=== ").dropFirst() {
      let (head, content) =
        section.firstIndex(of: "\n").map {
          (section[..<$0], String(section[section.index(after: $0)...]))
        } ?? (section, "")
      let words = head.split(separator: " ", maxSplits: 1).map(String.init)
      // The newline before the next section is the last of the file.
      let file = content.hasSuffix("\n") ? content : content + "\n"
      switch words[0] {
      case "before": before[words[1]] = file
      case "after": changed[words[1]] = file
      case "gone": gone.insert(words[1])
      default: findings = content.split(separator: "\n").map(String.init)
      }
    }
    after = before.merging(changed) { $1 }.filter { !gone.contains($0.key) }
  }

  /// The same with other ends of lines.
  func with(newline: String) -> PortCase {
    var copy = self
    copy.before = before.mapValues { $0.replacing("\n", with: newline) }
    copy.after = after.mapValues { $0.replacing("\n", with: newline) }
    return copy
  }

  static func files(_ texts: [String: String]) -> Files { texts.map { ($0, Array($1.utf8)) } }
}

extension FolderPort {
  init(_ texts: [String: String]) { self.init(PortCase.files(texts)) }

  /// All files after the port, of these before.
  func applied(to texts: [String: String]) -> [String: String] {
    var texts = texts
    for change in changes {
      texts[change.path] = change.after.map { String(decoding: $0, as: UTF8.self) }
    }
    return texts
  }
}
