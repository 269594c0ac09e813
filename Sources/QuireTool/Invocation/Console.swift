/// The destination of a command's results, notes and errors.
struct Console {
  let output: TextOutput
  let errors: TextOutput
  /// Whether a long task is ended in good order when the process is asked to end.
  var catchesSignals = false

  func print(_ text: String) { output.write(text + "\n") }

  func print(_ value: JSONValue) { output.write(value.indentedText + "\n") }

  func print(_ grid: Grid) { output.write(grid.text(on: output.terminal) + "\n") }

  /// Something worth knowing that is neither an answer nor an error.
  func note(_ text: String) { tell("note:", .note, text) }

  func complain(_ text: String) { tell("quire:", .error, text) }

  private func tell(_ start: String, _ style: TextStyle, _ text: String) {
    // On a terminal both are one stream: what was said first is read first.
    output.flush()
    errors.write("\(start.styled(style, on: errors.terminal)) \(text.withVisibleControls)\n")
    errors.flush()
  }

  /// Runs a task that tells how far it is, and that ends with a `CancellationError` when the
  /// process is asked to end.
  func task<Result>(
    _ title: String, _ unit: TaskProgress.Unit, _ body: (TaskProgress) throws -> Result
  ) rethrows -> Result {
    if catchesSignals { Interruption.watch(tells: errors.terminal != nil) }
    return try waiting(title, unit, body)
  }

  /// Runs a task that cannot be ended in good order, as it changes nothing or is too short.
  func waiting<Result, Failure>(
    _ title: String, _ unit: TaskProgress.Unit = .parts,
    _ body: (TaskProgress) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    output.flush()
    let progress = TaskProgress(title, unit, on: errors.terminal)
    defer { progress.finish() }
    return try body(progress)
  }
}

extension String {
  /// The text with names of its control characters but for ends of lines and tabs: values of a
  /// store that a message shows could move the cursor, or do worse.
  fileprivate var withVisibleControls: String {
    var result = ""
    for scalar in unicodeScalars {
      let isControl = scalar.properties.generalCategory == .control
      if isControl, scalar != "\n", scalar != "\t" {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
