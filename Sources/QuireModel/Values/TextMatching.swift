/// Searches in strings, by characters and canonical equivalence.
///
/// The texts are compared as they are; to ignore case or diacritics, fold both sides first. Plain
/// ASCII, which nearly all searched text is, is compared byte by byte: there a byte is a character,
/// except that a carriage return and the line feed after it are one character.
enum TextMatching {
  static func has(_ text: String, prefix: String) -> Bool {
    if isPlain(text) && isPlain(prefix) { return text.utf8.starts(with: prefix.utf8) }
    return text.starts(with: prefix)
  }

  static func has(_ text: String, suffix: String) -> Bool {
    if isPlain(text) && isPlain(suffix) {
      return text.utf8.reversed().starts(with: suffix.utf8.reversed())
    }
    return text.reversed().starts(with: suffix.reversed())
  }

  /// - Complexity: O(*n* + *m*).
  static func has(_ text: String, part: String) -> Bool {
    if isPlain(text) && isPlain(part) { return has(text.utf8, part: part.utf8) }
    return has(text[...], part: part)
  }

  private static func has<Text: Collection>(
    _ text: Text, part: some Collection<Text.Element>
  ) -> Bool where Text.Element: Equatable {
    guard let first = part.first else { return true }
    let count = part.count
    if count > 16 { return has(text, longPart: Array(part)) }
    var index = text.startIndex
    while index != text.endIndex {
      if text[index] == first && text[index...].starts(with: part) { return true }
      text.formIndex(after: &index)
    }
    return false
  }

  /// Knuth, Morris and Pratt's search, which never goes back in the text.
  private static func has<Text: Collection>(
    _ text: Text, longPart part: [Text.Element]
  ) -> Bool where Text.Element: Equatable {
    let borders = borders(of: part)
    var matched = 0
    for element in text {
      while matched > 0, part[matched] != element { matched = borders[matched - 1] }
      if part[matched] == element { matched += 1 }
      if matched == part.count { return true }
    }
    return false
  }

  /// For each beginning of a list, how many elements its longest other beginning has that it ends
  /// with.
  fileprivate static func borders<Element: Equatable>(of part: [Element]) -> [Int] {
    var borders = Array(repeating: 0, count: part.count)
    var matched = 0
    for position in part.indices.dropFirst() {
      while matched > 0, part[matched] != part[position] { matched = borders[matched - 1] }
      if part[matched] == part[position] { matched += 1 }
      borders[position] = matched
    }
    return borders
  }

  static func isPlain(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      var high: UInt8 = 0
      var hasReturn = false
      for byte in bytes {
        high |= byte
        hasReturn = hasReturn || byte == 0x0D
      }
      return high < 0x80 && !hasReturn
    } ?? false
  }
}

/// A pattern for whole strings: `*` is any text, `?` any one character, `\` takes the next as it
/// is.
struct LikePattern {
  private enum Token<Element: Equatable> {
    case anyText
    case anyOne
    case one(Element)
  }

  private let characters: [Token<Character>]
  /// The tokens as bytes, when they are plain.
  private let bytes: [Token<UInt8>]?

  init(_ pattern: String) {
    characters = Self.tokens(in: pattern, star: "*", mark: "?", escape: "\\")
    bytes =
      TextMatching.isPlain(pattern)
      ? Self.tokens(in: pattern.utf8, star: 0x2A, mark: 0x3F, escape: 0x5C) : nil
  }

  /// - Complexity: O(*n* + *m*); O(*n* × *m*) when there is a `?` after a `*`.
  func matches(_ text: String) -> Bool {
    if let bytes, TextMatching.isPlain(text) { return Self.matches(text.utf8, bytes) }
    return Self.matches(text, characters)
  }

  private static func tokens<Text: Sequence>(
    in text: Text, star: Text.Element, mark: Text.Element, escape: Text.Element
  ) -> [Token<Text.Element>] {
    var tokens: [Token<Text.Element>] = []
    var isEscaped = false
    for element in text {
      if isEscaped {
        tokens.append(.one(element))
        isEscaped = false
      } else if element == escape {
        isEscaped = true
      } else {
        tokens.append(element == star ? .anyText : element == mark ? .anyOne : .one(element))
      }
    }
    // A backslash at the end is an ordinary character.
    if isEscaped { tokens.append(.one(escape)) }
    return tokens
  }

  private static func matches<Text: Collection>(
    _ text: Text, _ tokens: [Token<Text.Element>]
  ) -> Bool {
    var index = text.startIndex
    var token = 0
    // The last `*` so far, and the position in the text up to which it matches. An earlier `*`
    // never needs to match more: the last one can do that instead.
    var retry: (token: Int, index: Text.Index)?
    // The borders of what follows the last `*`, when it is text alone: see
    // `TextMatching.borders(of:)`.
    var borders: [Int]?
    while index != text.endIndex {
      if token < tokens.count {
        switch tokens[token] {
        case .anyText:
          retry = (token, index)
          token += 1
          borders = Self.borders(ofTextIn: tokens[token...])
          continue
        case .anyOne:
          token += 1
          text.formIndex(after: &index)
          continue
        case .one(let element):
          if element == text[index] {
            token += 1
            text.formIndex(after: &index)
            continue
          }
        }
      }
      guard let last = retry else { return false }
      if let borders {
        let matched = token - last.token - 1
        if matched == 0 {
          text.formIndex(after: &index)
        } else {
          token = last.token + 1 + borders[matched - 1]
        }
        continue
      }
      index = text.index(after: last.index)
      retry = (last.token, index)
      token = last.token + 1
    }
    return tokens[token...].allSatisfy { if case .anyText = $0 { true } else { false } }
  }

  /// - Returns: `nil` when there is a `?` before the next `*`.
  private static func borders<Element: Equatable>(
    ofTextIn tokens: ArraySlice<Token<Element>>
  ) -> [Int]? {
    var text: [Element] = []
    for token in tokens {
      switch token {
      case .anyText: return TextMatching.borders(of: text)
      case .anyOne: return nil
      case .one(let element): text.append(element)
      }
    }
    return TextMatching.borders(of: text)
  }
}
