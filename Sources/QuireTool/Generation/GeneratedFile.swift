/// A file of Swift code that the tool has made of a model.
package struct GeneratedFile: Equatable, Sendable {
  /// With its extension.
  package var name: String
  package var text: String
}

/// What is made of a model, and what is not.
package struct GeneratedCode: Equatable, Sendable {
  /// In the order of their names.
  package var files: [GeneratedFile]
  /// Remarks on what of the model the code does not say.
  package var notes: [String] = []

  /// The same code in one file.
  func joined(as name: String) -> GeneratedCode {
    var imports: Set<String> = []
    var bodies: [String] = []
    for file in files {
      let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
      imports.formUnion(lines.lazy.filter { $0.hasPrefix("import ") }.map(String.init))
      let body = lines.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
      bodies.append(String(body.drop { $0 == "\n" }))
    }
    let text = imports.sorted().joined(separator: "\n") + "\n\n" + bodies.joined(separator: "\n")
    return GeneratedCode(files: [GeneratedFile(name: name, text: text)], notes: notes)
  }
}
