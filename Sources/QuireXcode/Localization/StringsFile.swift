import Foundation

/// Translations in the form in which Xcode keeps them: a file `.strings`.
///
/// ```
/// /* Shown above the list. */
/// "Entity/Artwork" = "Œuvre";
/// "Property/title/Entity/Artwork" = "Titre";
/// ```
///
/// It reads the handwritten form, which is the property list of NeXTSTEP without its braces; XML
/// property lists; and the binary ones that Xcode puts into applications. Text is UTF-8, or UTF-16
/// where it begins with a byte order mark or its first character shows it. Besides the above, the
/// handwritten form may have `//` comments, words without quotes, text between single quotes, a key
/// without a value (the key is its value, too), and braces around it all. In text, there may be
/// `\n`, `\t` and their like, `\"`, `\\`, `\U00e9` in UTF-16, and octal numbers of ASCII. Where a
/// key occurs twice, the last counts.
public struct StringsFile: Hashable, Sendable {
  /// The translations by their keys.
  public let translations: [String: String]

  /// Reads a file.
  ///
  /// - Throws: ``StringsFileError`` with the location of what is malformed, or why the file cannot
  ///   be read.
  public init(contentsOf url: URL) throws(StringsFileError) {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw StringsFileError(
        file: url.path, reason: .unreadable(FileProblem.words(for: error)))
    }
    try self.init(data, file: url.path)
  }

  /// - Parameter file: what errors call it.
  public init(_ data: Data, file: String = "the text") throws(StringsFileError) {
    func fail(_ reason: StringsFileError.Reason) -> StringsFileError {
      StringsFileError(file: file, reason: reason)
    }
    if data.starts(with: BinaryPropertyList.magic) {
      translations = try Self.translations(inList: data, file)
      return
    }
    let text: String
    do {
      text = try Self.text(of: data)
    } catch {
      throw fail(.notText(error.words))
    }
    let start = text.unicodeScalars.drop { $0.properties.isWhitespace }
    if start.starts(with: "<?xml".unicodeScalars) || start.starts(with: "<plist".unicodeScalars) {
      translations = try Self.translations(inList: Data(text.utf8), file)
      return
    }
    do {
      var reader = StringsReader(text)
      translations = try reader.translations()
    } catch {
      throw fail(.malformed(line: error.line, column: error.column, error.words))
    }
  }

  private static func translations(
    inList data: Data, _ file: String
  ) throws(StringsFileError) -> [String: String] {
    func fail(_ words: String) -> StringsFileError {
      StringsFileError(file: file, reason: .notStrings(words))
    }
    let list: PropertyList
    do {
      list = try PropertyList(data)
    } catch {
      throw fail(error.text)
    }
    guard case .dictionary(let entries) = list else {
      throw fail("is a property list that is no dictionary")
    }
    var translations: [String: String] = [:]
    for (key, value) in entries {
      guard let text = value.text else { throw fail("has something else than a text for “\(key)”") }
      translations[key] = text
    }
    return translations
  }

  // MARK: Encodings

  private struct NoText: Error {
    var words: String
  }

  private static func text(of data: Data) throws(NoText) -> String {
    let bytes = Array(data)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return try utf8(bytes.dropFirst(3)) }
    if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes.dropFirst(2), isBig: false) }
    if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes.dropFirst(2), isBig: true) }
    // The first character is ASCII: a comment, a quote, a word or a space.
    if bytes.count > 1, bytes[0] == 0, bytes[1] != 0 { return try utf16(bytes[...], isBig: true) }
    if bytes.count > 1, bytes[1] == 0, bytes[0] != 0 { return try utf16(bytes[...], isBig: false) }
    return try utf8(bytes[...])
  }

  private static func utf8(_ bytes: ArraySlice<UInt8>) throws(NoText) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw NoText(words: "it is neither UTF-8, nor UTF-16 with a mark at its beginning")
    }
    return text
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>, isBig: Bool) throws(NoText) -> String {
    guard bytes.count.isMultiple(of: 2) else {
      throw NoText(words: "it begins as UTF-16, and has an odd number of bytes")
    }
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBig ? first << 8 | second : second << 8 | first
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw NoText(words: "it begins as UTF-16, and has half a character")
    }
    return text
  }
}
