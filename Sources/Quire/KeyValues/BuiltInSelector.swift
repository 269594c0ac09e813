import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A function that expressions can call on texts, numbers, dates, data and collections: the methods
/// of Foundation's classes in Core Data, as far as mapping models use them.
struct BuiltInSelector {
  let name: String

  init(_ name: String) { self.name = name }

  /// The number of arguments of the function.
  var argumentCount: Int { name.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: ":") ? 1 : 0) } }

  /// - Throws: ``PersistenceError/Code/unrecognizedSelector`` if values of this type have no such
  ///   function; ``PersistenceError/Code/invalidExpression`` if it has no result for the arguments.
  func call(on receiver: Any, _ arguments: [Any?]) throws -> Any? {
    guard arguments.count == argumentCount else {
      throw PersistenceError.unrecognizedSelector(name, of: receiver)
    }
    let answer: Any??
    switch receiver {
    case let text as String: answer = try call(on: text, arguments)
    case let date as Date: answer = try call(on: date, arguments)
    case let dictionary as any PlainDictionary: answer = call(on: dictionary, arguments)
    case let collection as any PlainCollection: answer = try call(on: collection, arguments)
    case let data as Data: answer = name == "length" ? .some(data.count) : nil
    case let uuid as UUID: answer = name == "UUIDString" ? .some(uuid.uuidString) : nil
    case let url as URL: answer = call(on: url)
    case let object as ManagedObjectID:
      answer = name == "URIRepresentation" ? .some(object.uriRepresentation()) : nil
    default: answer = try PlainNumber(receiver).flatMap { try call(on: $0) }
    }
    if let answer { return answer }
    switch name {
    case "description": return String(describing: receiver)
    case "isEqual:": return try isEqual(receiver, arguments[0])
    default: throw PersistenceError.unrecognizedSelector(name, of: receiver)
    }
  }

  private func isEqual(_ receiver: Any, _ other: Any?) throws -> Bool {
    try FetchPredicate(format: "$a == $b").evaluate(
      with: nil, substitutionVariables: ["a": receiver, "b": other])
  }

  private func unusable(_ argument: Any?) -> PersistenceError {
    let text = argument.map(PersistenceError.briefDescription(of:)) ?? "nil"
    return PersistenceError(.invalidExpression, "\(name) has no answer for \(text)")
  }

  private func text(_ argument: Any?) throws -> String {
    guard let text = flattened(argument) as? String else { throw unusable(argument) }
    return text
  }

  private func number(_ argument: Any?) throws -> PlainNumber {
    guard let value = flattened(argument), let number = PlainNumber(value) else {
      throw unusable(argument)
    }
    return number
  }

  // MARK: Texts

  private func call(on text: String, _ arguments: [Any?]) throws -> Any?? {
    switch name {
    case "uppercaseString": .some(text.uppercased())
    case "lowercaseString": .some(text.lowercased())
    case "capitalizedString": .some(text.capitalized)
    case "stringByAppendingString:": .some(text + (try self.text(arguments[0])))
    case "stringByReplacingOccurrencesOfString:withString:":
      .some(replacing(try self.text(arguments[0]), try self.text(arguments[1]), in: text))
    case "componentsSeparatedByString:": .some(try components(of: text, arguments[0]))
    case "hasPrefix:": .some(text.hasPrefix(try self.text(arguments[0])))
    case "hasSuffix:": .some(text.hasSuffix(try self.text(arguments[0])))
    case "substringFromIndex:":
      .some(String(text[try index(in: text, arguments[0])...]))
    case "substringToIndex:": .some(String(text[..<(try index(in: text, arguments[0]))]))
    case "length": .some(text.utf16.count)
    case "description", "stringValue": .some(text)
    case "intValue": .some(Int(LeadingNumber.integer(in: text, as: Int32.self)))
    case "integerValue", "longLongValue":
      .some(Int(LeadingNumber.integer(in: text, as: Int64.self)))
    case "doubleValue": .some(LeadingNumber.double(in: text))
    case "floatValue": .some(Float(LeadingNumber.double(in: text)))
    case "boolValue": .some(LeadingNumber.flag(in: text))
    default: nil
    }
  }

  private func replacing(_ part: String, _ other: String, in text: String) -> String {
    part.isEmpty ? text : text.replacing(part, with: other)
  }

  private func components(of text: String, _ separator: Any?) throws -> [String] {
    let separator = try self.text(separator)
    return separator.isEmpty
      ? [text]
      : text.split(
        separator: separator, omittingEmptySubsequences: false
      ).map(String.init)
  }

  /// The index at an offset in UTF-16 units, in which the text's length is counted as well.
  private func index(in text: String, _ argument: Any?) throws -> String.Index {
    guard let offset = try number(argument).integer, (0...text.utf16.count).contains(offset) else {
      throw unusable(argument)
    }
    return text.utf16.index(text.startIndex, offsetBy: offset)
  }

  // MARK: Numbers

  private func call(on number: PlainNumber) throws -> Any?? {
    switch name {
    case "stringValue", "description": return .some(number.text)
    case "intValue", "integerValue", "longLongValue":
      guard let integer = number.integer else { throw unusable(number.text) }
      return .some(integer)
    case "doubleValue": return .some(number.double)
    case "floatValue": return .some(Float(number.double))
    case "boolValue": return .some(number.double != 0)
    case "decimalValue":
      guard let decimal = number.decimal else { throw unusable(number.text) }
      return .some(decimal)
    default: return nil
    }
  }

  // MARK: Dates and URLs

  private func call(on date: Date, _ arguments: [Any?]) throws -> Any?? {
    switch name {
    case "dateByAddingTimeInterval:": return .some(date + (try number(arguments[0]).double))
    case "timeIntervalSinceReferenceDate": return .some(date.timeIntervalSinceReferenceDate)
    case "timeIntervalSince1970": return .some(date.timeIntervalSince1970)
    case "timeIntervalSinceDate:":
      guard let other = flattened(arguments[0]) as? Date else { throw unusable(arguments[0]) }
      return .some(date.timeIntervalSince(other))
    default: return nil
    }
  }

  private func call(on url: URL) -> Any?? {
    switch name {
    case "absoluteString", "description": .some(url.absoluteString)
    case "host": .some(url.host())
    case "path": .some(url.path())
    default: nil
    }
  }

  // MARK: Collections

  private func call(on collection: any PlainCollection, _ arguments: [Any?]) throws -> Any?? {
    let members = collection.plainMembers
    switch name {
    case "count": return .some(members.count)
    case "allObjects", "array": return .some(members.compactMap(flattened))
    case "anyObject": return .some(members.compactMap(flattened).first)
    case "containsObject:":
      return .some(
        try FetchPredicate(format: "$member IN $members").evaluate(
          with: nil, substitutionVariables: ["member": arguments[0], "members": collection]))
    case "componentsJoinedByString:":
      let separator = try text(arguments[0])
      return .some(
        try members.compactMap(flattened)
          .map { try BuiltInSelector("description").call(on: $0, []) as? String ?? "" }
          .joined(separator: separator))
    default: break
    }
    guard collection.isOrdered else { return nil }
    switch name {
    case "firstObject": return .some(members.first.flatMap(flattened))
    case "lastObject": return .some(members.last.flatMap(flattened))
    case "objectAtIndex:":
      guard let index = try number(arguments[0]).integer, members.indices.contains(index) else {
        throw unusable(arguments[0])
      }
      return .some(flattened(members[index]))
    default: return nil
    }
  }

  private func call(on dictionary: any PlainDictionary, _ arguments: [Any?]) -> Any?? {
    switch name {
    case "count": .some(dictionary.plainKeys.count)
    case "allKeys": .some(dictionary.plainKeys)
    case "allValues": .some(dictionary.plainValues.compactMap(flattened))
    case "objectForKey:":
      .some((flattened(arguments[0]) as? String).flatMap(dictionary.plainValue))
    default: nil
    }
  }
}
