/// A command line for the help, to be typed as it stands: tests run it.
package struct CommandExample: Sendable {
  /// A fragment that says what it is for.
  package var purpose: String
  package var line: String

  init(_ purpose: String, _ line: String) {
    self.purpose = purpose
    self.line = line
  }
}

/// What a command is for: the heading that the overview lists it under.
package enum CommandGroup: String, CaseIterable, Sendable {
  case objects = "Objects of a store"
  case files = "Files of stores"
  case models = "Models and migration"
  case code = "Code"
  case tool = "The tool itself"
}
