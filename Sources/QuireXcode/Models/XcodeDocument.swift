import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Turns the XML of a model, or of another document of Xcode's, into elements.
final class XcodeDocument: NSObject {
  /// Models are five levels deep; a file that is much deeper is none.
  private static let depthLimit = 64

  private let file: String
  private var open: [XcodeElement] = []
  private var root: XcodeElement?
  private var error: XcodeModelError?

  private init(file: String) { self.file = file }

  static func root(of data: Data, file: String) throws(XcodeModelError) -> XcodeElement {
    let document = XcodeDocument(file: file)
    let text: XMLText
    do throws(XMLText.Refusal) {
      text = try XMLText(data)
    } catch {
      throw XcodeModelError(
        file: file, reason: .malformed(line: 1, column: 1, error.words))
    }
    let parser = XMLParser(data: text.utf8)
    parser.shouldResolveExternalEntities = false
    parser.delegate = document
    let isWhole = parser.parse()
    if let error = document.error { throw error }
    guard isWhole, let root = document.root else {
      throw XcodeModelError(
        file: file,
        reason: .malformed(
          line: parser.lineNumber, column: parser.columnNumber, "this is not well-formed XML"))
    }
    return root
  }
}

extension XcodeDocument: XMLParserDelegate {
  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    guard open.count < Self.depthLimit else {
      fail(parser, "elements are nested more than \(Self.depthLimit) deep")
      return
    }
    open.append(XcodeElement(name: name, attributes: attributes, line: parser.lineNumber))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard let element = open.popLast() else { return }
    if open.isEmpty {
      root = element
    } else {
      open[open.count - 1].children.append(element)
    }
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    guard !open.isEmpty else { return }
    open[open.count - 1].text += text
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    self.parser(parser, foundCharacters: String(decoding: block, as: UTF8.self))
  }

  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    fail(parser, "this is not well-formed XML: \(Self.words(for: parseError))")
  }

  private func fail(_ parser: XMLParser, _ words: String) {
    guard error == nil else { return }
    error = XcodeModelError(
      file: file,
      reason: .malformed(line: parser.lineNumber, column: parser.columnNumber, words))
    parser.abortParsing()
  }

  /// The numbers are libxml2's; these are the ones a person meets after editing by hand.
  private static func words(for error: any Error) -> String {
    let code = (error as NSError).code
    return switch code {
    case 3, 4: "there is nothing, or no element at the start"
    case 5, 77: "it ends too early"
    case 9: "there is a character that XML does not allow"
    case 38: "an attribute contains “<”"
    case 39, 40: "an attribute has no quotes"
    case 42: "an element has an attribute twice"
    case 73: "a tag is not closed with “>”"
    case 76: "an end tag does not match its start tag"
    default: "error \(code) of the XML parser"
    }
  }
}
