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
}
