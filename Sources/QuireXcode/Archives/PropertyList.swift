import Foundation

/// A value of a property list.
///
/// The lists in mapping models are read here, not by `PropertyListSerialization`: that ends the
/// process on some malformed lists, such as a set among the values or a list that contains itself,
/// and hides the numbers by which a keyed archive refers to its objects.
indirect enum PropertyList: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  case real(Double)
  case boolean(Bool)
  case date(Date)
  case data(Data)
  case array([PropertyList])
  case dictionary([String: PropertyList])
  /// The number of an object in a keyed archive.
  case uid(Int)
}

/// Why a property list, or a keyed archive in one, cannot be read.
struct PropertyListError: Error, Hashable {
  /// The location in the list, or in its file; empty for the list as a whole.
  var location: String
  var words: String

  init(_ words: String, at location: String = "") {
    self.location = location
    self.words = words
  }

  var text: String { location.isEmpty ? words : "\(location) \(words)" }
}

extension PropertyList {
  /// The deepest nesting of values in a list; archives have four levels.
  static let depthLimit = 64

  /// Reads a list in its binary or its XML form.
  init(_ data: Data) throws(PropertyListError) {
    if data.starts(with: BinaryPropertyList.magic) {
      var reader = try BinaryPropertyList(Array(data))
      self = try reader.root()
      return
    }
    let root: XcodeElement
    do {
      root = try XcodeDocument.root(of: data, file: "")
    } catch {
      throw PropertyListError("is neither a binary property list nor XML")
    }
    guard root.name == "plist", root.children.count == 1 else {
      throw PropertyListError("is XML, but not a property list: its root is <\(root.name)>")
    }
    self = try PropertyList(root.children[0])
  }

  /// Reads a value of the XML form. The document has been checked for its depth.
  private init(_ element: XcodeElement) throws(PropertyListError) {
    let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
    func fail() -> PropertyListError {
      PropertyListError(
        "has “\(text.prefix(40))” for a <\(element.name)>", at: "line \(element.line)")
    }
    switch element.name {
    case "string": self = .string(element.text)
    case "true": self = .boolean(true)
    case "false": self = .boolean(false)
    case "integer":
      guard let number = Int64(text) else { throw fail() }
      self = .integer(number)
    case "real":
      guard let number = Double(text) else { throw fail() }
      self = .real(number)
    case "date":
      guard let date = try? Date(text, strategy: .iso8601) else { throw fail() }
      self = .date(date)
    case "data":
      guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
        throw fail()
      }
      self = .data(data)
    case "array":
      var members: [PropertyList] = []
      for child in element.children { members.append(try PropertyList(child)) }
      self = .array(members)
    case "dict": self = try PropertyList.dictionary(of: element)
    default:
      throw PropertyListError(
        "has an element <\(element.name)>, which property lists do not have",
        at: "line \(element.line)")
    }
  }

  private static func dictionary(
    of element: XcodeElement
  ) throws(PropertyListError) -> PropertyList {
    let parts = element.children
    guard parts.count.isMultiple(of: 2) else {
      throw PropertyListError("has a key without a value", at: "line \(element.line)")
    }
    var entries: [String: PropertyList] = [:]
    for index in stride(from: 0, to: parts.count, by: 2) {
      guard parts[index].name == "key" else {
        throw PropertyListError("has a value without a key", at: "line \(parts[index].line)")
      }
      entries[parts[index].text] = try PropertyList(parts[index + 1])
    }
    // So the XML form writes the number of an object.
    if entries.count == 1, case .integer(let number)? = entries["CF$UID"],
      let index = Int(exactly: number), index >= 0
    {
      return .uid(index)
    }
    return .dictionary(entries)
  }
}

// MARK: - Values of an expected type

extension PropertyList {
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var number: Int? {
    guard case .integer(let number) = self else { return nil }
    return Int(exactly: number)
  }

  /// The texts of an array of nothing else.
  var texts: [String]? {
    guard case .array(let members) = self else { return nil }
    let texts = members.compactMap(\.text)
    return texts.count == members.count ? texts : nil
  }

  /// The entries of a dictionary of data and nothing else.
  var dataByName: [String: Data]? {
    guard case .dictionary(let entries) = self else { return nil }
    let data = entries.compactMapValues { value -> Data? in
      guard case .data(let data) = value else { return nil }
      return data
    }
    return data.count == entries.count ? data : nil
  }
}
