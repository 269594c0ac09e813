import Foundation
import QuireModel

/// Xcode's document of a mapping model: a store in Core Data's XML form, with an object for the
/// model, for each entity's mapping, and for each property's.
struct XcodeMappingDocument {
  /// One object: its attributes as they are written, and the objects that it refers to.
  struct Item {
    let kind: String
    let line: Int
    fileprivate(set) var attributes: [String: XcodeElement] = [:]
    fileprivate(set) var references: [String: [String]] = [:]
  }

  let file: String
  private let items: [String: Item]
  private let model: Item

  init(_ root: XcodeElement, file: String) throws(XcodeMappingError) {
    self.file = file
    guard root.name == "database" else {
      throw XcodeMappingError(
        file: file, reason: .notAMapping("its root element is <\(root.name)>, not <database>"))
    }
    var items: [String: Item] = [:]
    for element in root.children where element.name == "object" {
      guard let id = element.attributes["id"], let kind = element.attributes["type"] else {
        throw Self.incomplete(file, element.line, "an <object> has no id, or no type")
      }
      var item = Item(kind: kind.uppercased(), line: element.line)
      for child in element.children {
        guard let name = child.attributes["name"]?.lowercased() else { continue }
        if child.name == "attribute" { item.attributes[name] = child }
        if child.name == "relationship" {
          item.references[name] = (child.attributes["idrefs"] ?? "").split(separator: " ")
            .map(String.init)
        }
      }
      guard items.updateValue(item, forKey: id) == nil else {
        throw Self.incomplete(file, element.line, "there is another <object> with the id \(id)")
      }
    }
    let models = items.values.filter { $0.kind == "XDDEVMAPPINGMODEL" }
    guard models.count == 1 else {
      throw XcodeMappingError(
        file: file,
        reason: .notAMapping("it has \(models.count) objects XDDEVMAPPINGMODEL instead of one"))
    }
    (self.items, model) = (items, models[0])
  }

  var sourceModelPath: String? { text("sourcemodelpath", of: model) }
  var destinationModelPath: String? { text("destinationmodelpath", of: model) }
  var sourceOutline: XcodeModelOutline? { outline("sourcemodeldata") }
  var destinationOutline: XcodeModelOutline? { outline("destinationmodeldata") }

  private func outline(_ name: String) -> XcodeModelOutline? {
    guard let data = try? data(name, of: model) else { return nil }
    return XcodeModelOutline(archived: data)
  }

  /// The mappings of entities, in the order in which they are to be carried out.
  func entityMappings() throws(XcodeMappingError) -> [Item] {
    var mappings: [(number: Int, item: Item)] = []
    for item in try referenced("entitymappings", "XDDEVENTITYMAPPING", by: model) {
      guard let text = text("mappingnumber", of: item) else {
        mappings.append((Int.max, item))
        continue
      }
      guard let number = Int(text) else {
        throw incomplete(item, "the mappingnumber “\(text)” is no number")
      }
      mappings.append((number, item))
    }
    return mappings.enumerated().sorted {
      ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
    }
    .map(\.element.item)
  }

  /// The objects that an object refers to, all of that kind.
  func referenced(
    _ name: String, _ kind: String, by item: Item
  ) throws(XcodeMappingError) -> [Item] {
    var found: [Item] = []
    for id in item.references[name] ?? [] {
      guard let target = items[id] else {
        throw incomplete(item, "\(name) refers to \(id), which the document does not have")
      }
      guard target.kind == kind else {
        throw incomplete(item, "\(name) refers to \(id), which is a \(target.kind)")
      }
      found.append(target)
    }
    return found
  }

  // MARK: Attributes

  /// - Returns: `nil` when there is none, or it is empty.
  func text(_ name: String, of item: Item) -> String? {
    let text = item.attributes[name]?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    return text.isEmpty ? nil : XMLStoreText.unescaped(text)
  }

  func flag(_ name: String, of item: Item) throws(XcodeMappingError) -> Bool? {
    guard let text = text(name, of: item) else { return nil }
    guard let flag = XcodeFields.flag(text) else {
      throw incomplete(item, "\(name) is “\(text)”, which is neither 1 nor 0")
    }
    return flag
  }

  func data(_ name: String, of item: Item) throws(XcodeMappingError) -> Data? {
    guard let text = text(name, of: item) else { return nil }
    guard let data = Self.data(ofBase64: text.utf8) else {
      throw incomplete(item, "\(name) is not in base 64")
    }
    return data
  }

  /// The data of the first attribute of a name in a document of which nothing else is read.
  ///
  /// - Returns: `nil` when it is not there in the form that Xcode gives it; it may be in another.
  static func data(ofFirst name: String, in document: Data) -> Data? {
    guard let attribute = document.range(of: Data("\"\(name)\"".utf8)) else { return nil }
    return document[attribute.upperBound...].withUnsafeBytes { bytes in
      guard let begin = bytes.firstIndex(of: UInt8(ascii: ">")),
        let end = bytes[(begin + 1)...].firstIndex(of: UInt8(ascii: "<"))
      else { return nil }
      return data(ofBase64: bytes[(begin + 1)..<end])
    }
  }

  /// Xcode breaks the lines; what else is not base 64 is damage.
  private static func data(ofBase64 text: some Sequence<UInt8>) -> Data? {
    Data(base64Encoded: Data(text.filter { $0 > UInt8(ascii: " ") }))
  }

  func incomplete(_ item: Item, _ words: String) -> XcodeMappingError {
    Self.incomplete(file, item.line, words)
  }

  private static func incomplete(_ file: String, _ line: Int, _ words: String) -> XcodeMappingError
  {
    XcodeMappingError(file: file, reason: .incomplete(line: line, words))
  }
}
