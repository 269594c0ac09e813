import Foundation
import Testing

/// The lists of `Tests/Mutants` name lines of the engine. Whoever changes such a line finds out
/// here, and not months later, when somebody runs the mutants.
@Suite struct MutantListsTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// One list, as `Tests/Mutants/run` reads it.
  private struct List {
    struct Replacement {
      var mutant: String
      var file: String
      var old = ""
      var new = ""
    }

    private(set) var mutants: [String] = []
    private(set) var replacements: [Replacement] = []

    init(_ text: String) {
      var file = ""
      var open: Replacement?
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if !line.hasPrefix("+"), open?.new.isEmpty == false || !line.hasPrefix("-") {
          if let open { replacements.append(open) }
          open = nil
        }
        if line.hasPrefix("mutant: ") {
          mutants.append(String(line.dropFirst("mutant: ".count)))
        } else if line.hasPrefix("file: ") {
          file = String(line.dropFirst("file: ".count))
        } else if line.hasPrefix("-") {
          open = open ?? Replacement(mutant: mutants.last ?? "", file: file)
          open?.old += line.dropFirst() + "\n"
        } else if line.hasPrefix("+") {
          open?.new += line.dropFirst() + "\n"
        }
      }
      if let open { replacements.append(open) }
    }
  }

  @Test func `every mutant finds the lines that it breaks, exactly once`() throws {
    let folder = Self.root.appending(path: "Tests/Mutants")
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.path(percentEncoded: false)
    ).filter { $0.hasSuffix(".mutants") }
    try #require(!names.isEmpty)
    for name in names {
      let list = List(try String(contentsOf: folder.appending(path: name), encoding: .utf8))
      #expect(Set(list.replacements.map(\.mutant)).count == list.mutants.count, "\(name)")
      for mutant in list.mutants {
        // The replacements of one mutant follow each other.
        var texts: [String: String] = [:]
        for replacement in list.replacements where replacement.mutant == mutant {
          let file = Self.root.appending(path: replacement.file)
          let text = try texts[replacement.file] ?? String(contentsOf: file, encoding: .utf8)
          let parts = text.components(separatedBy: replacement.old)
          #expect(parts.count == 2, "\(name), \(mutant): \(replacement.file)")
          #expect(replacement.new != replacement.old, "\(name), \(mutant) changes nothing")
          texts[replacement.file] = parts.joined(separator: replacement.new)
        }
        #expect(!texts.isEmpty)
      }
    }
  }
}
