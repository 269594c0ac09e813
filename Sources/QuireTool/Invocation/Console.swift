/// The destination of a command's results, notes and errors.
struct Console {
  let output: TextOutput
  let errors: TextOutput

  func print(_ text: String) { output.write(text + "\n") }

  func print(_ value: JSONValue) { output.write(value.indentedText + "\n") }

  /// Something worth knowing that is neither an answer nor an error.
  func note(_ text: String) { tell("note: \(text)\n") }

  func complain(_ text: String) { tell("quire: \(text)\n") }

  private func tell(_ text: String) {
    // On a terminal both are one stream: what was said first is read first.
    output.flush()
    errors.write(text)
    errors.flush()
  }
}
