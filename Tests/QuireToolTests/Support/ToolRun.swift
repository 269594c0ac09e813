import Foundation
import QuireTool

/// One run of the tool within this process, and what came of it.
struct ToolRun {
  let code: ExitCode
  let output: String
  let errors: String

  init(_ arguments: String...) { self.init(arguments) }

  /// - Parameter onTerminal: whether there is a terminal, of no known width and without colours.
  init(_ arguments: [String], onTerminal: Bool = false) {
    self.init(arguments, on: onTerminal ? Terminal() : nil)
  }

  /// - Parameter terminal: that of the output and of the errors.
  init(_ arguments: [String], on terminal: Terminal?) {
    let (output, errors) = (Memory(), Memory())
    code = Tool.run(
      arguments: arguments, output: TextOutput(terminal: terminal, output.take),
      errors: TextOutput(terminal: terminal, errors.take))
    self.output = output.text
    self.errors = errors.text
  }

  private final class Memory {
    private var bytes: [UInt8] = []
    var text: String { String(decoding: bytes, as: UTF8.self) }

    func take(_ bytes: [UInt8]) -> TextOutput.Outcome {
      self.bytes += bytes
      return .delivered
    }
  }

  /// The output, read by a JSON reader that is not ours.
  func json() throws -> [String: Any] {
    struct NotAnObject: Error {}
    let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
    guard let object = value as? [String: Any] else { throw NotAnObject() }
    return object
  }

  var lines: [Substring] { output.split(separator: "\n") }

  /// The output's lines, each read as a JSON object.
  func jsonLines() throws -> [[String: Any]] {
    try lines.compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }
}
