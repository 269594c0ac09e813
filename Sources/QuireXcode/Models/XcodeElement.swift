/// An element of a model's XML, with its location in the file.
struct XcodeElement {
  var name: String
  var attributes: [String: String]
  var children: [XcodeElement] = []
  /// The text directly inside the element, including white space.
  var text = ""
  var line: Int

  init(name: String, attributes: [String: String], line: Int) {
    (self.name, self.attributes, self.line) = (name, attributes, line)
  }
}

/// The attributes of an element, read one by one; those that were not read are unknown to the
/// loader.
struct XcodeFields {
  let element: XcodeElement
  private var unread: [String: String]
  private(set) var notes: [XcodeModelNote] = []
  /// What the element means and cannot be told: the first such thing.
  private(set) var failure: String?

  init(_ element: XcodeElement) {
    self.element = element
    unread = element.attributes
  }

  mutating func text(_ name: String) -> String? { unread.removeValue(forKey: name) }

  /// Text that says something: Xcode leaves some attributes behind empty.
  mutating func nonEmptyText(_ name: String) -> String? {
    text(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  mutating func flag(_ name: String, default absent: Bool = false) -> Bool {
    guard let text = text(name) else { return absent }
    guard let flag = Self.flag(text) else {
      fail("\(name) is “\(text)”, which is neither YES nor NO")
      return absent
    }
    return flag
  }

  mutating func integer(_ name: String) -> Int? {
    guard let text = nonEmptyText(name) else { return nil }
    guard let number = Int(text) else {
      fail("\(name) is “\(text)”, which is not a whole number")
      return nil
    }
    return number
  }

  mutating func number(_ name: String) -> Double? {
    guard let text = nonEmptyText(name) else { return nil }
    guard let number = Double(text), number.isFinite else {
      fail("\(name) is “\(text)”, which is not a number")
      return nil
    }
    return number
  }

  /// Attributes that matter to Xcode alone.
  mutating func skip(_ names: String...) { for name in names { unread[name] = nil } }

  /// Returns the name of the first unread attribute with one of these values, and marks it as read.
  mutating func takeUnread(withValueIn values: some Collection<String>) -> String? {
    guard let name = unread.keys.sorted().first(where: { values.contains(unread[$0] ?? "") }) else {
      return nil
    }
    return unread.removeValue(forKey: name)
  }

  mutating func note(_ text: String) {
    notes.append(XcodeModelNote(line: element.line, described(text)))
  }

  /// Refuses the model, once the element is read: what the text says would be something else.
  mutating func fail(_ text: String) { failure = failure ?? described(text) }

  private func described(_ text: String) -> String {
    let name = element.attributes["name"].map { " \($0)" } ?? ""
    return "\(element.name)\(name): \(text)"
  }

  /// The notes, with one for each attribute that was not read.
  mutating func finish() -> [XcodeModelNote] {
    for name in unread.keys.sorted() {
      note("the attribute \(name)=“\(unread[name] ?? "")” is unknown and ignored")
    }
    unread = [:]
    return notes
  }

  static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }
}
