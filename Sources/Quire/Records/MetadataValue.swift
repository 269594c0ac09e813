import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value of a store's metadata: any value of a property list.
enum MetadataValue: Hashable, Sendable {
  case string(String)
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  case date(Date)
  case data(Data)
  case array([MetadataValue])
  case dictionary([String: MetadataValue])

  /// The depth to which arrays and dictionaries may be nested.
  static let depthLimit = 64
}

// MARK: - Plain values

extension MetadataValue {
  /// - Parameter path: the key of the metadata, with the path inside its value, for the error
  ///   message.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` for a value that no property list can
  ///   hold.
  init(_ value: Any, at path: String, depth: Int = 0) throws(PersistenceError) {
    guard depth < MetadataValue.depthLimit else {
      throw PersistenceError(
        .unacceptableValue,
        "the metadata at \(path) are nested deeper than \(MetadataValue.depthLimit) levels")
    }
    switch value {
    case let value as String: self = .string(value)
    case let value as Bool: self = .boolean(value)
    case let value as Double: self = .double(value)
    case let value as Float: self = .double(Double(value))
    case let value as any BinaryInteger:
      guard let integer = Int64(exactly: value) else {
        throw MetadataValue.unacceptable(value, path)
      }
      self = .integer(integer)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as [String: Any]:
      var dictionary: [String: MetadataValue] = [:]
      for (key, value) in value {
        dictionary[key] = try MetadataValue(value, at: "\(path).\(key)", depth: depth + 1)
      }
      self = .dictionary(dictionary)
    case let value as [Any]:
      var array: [MetadataValue] = []
      for (index, value) in value.enumerated() {
        array.append(try MetadataValue(value, at: "\(path)[\(index)]", depth: depth + 1))
      }
      self = .array(array)
    default: throw MetadataValue.unacceptable(value, path)
    }
  }

  private static func unacceptable(_ value: Any, _ path: String) -> PersistenceError {
    var error = PersistenceError(
      .unacceptableValue,
      "the metadata at \(path) cannot be kept: \(valueText(value)) is of the type \(type(of: value)); use "
        + "strings, integers, doubles, booleans, dates, data, and arrays and dictionaries of these")
    error.key = path
    return error
  }

  var sendableValue: any Sendable {
    switch self {
    case .string(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .boolean(let value): value
    case .date(let value): value
    case .data(let value): value
    case .array(let values): values.map(\.sendableValue)
    case .dictionary(let values): values.mapValues(\.sendableValue)
    }
  }

  var plainValue: Any {
    switch self {
    case .string(let value): value
    case .integer(let value): Int(truncatingIfNeeded: value)
    case .double(let value): value
    case .boolean(let value): value
    case .date(let value): value
    case .data(let value): value
    case .array(let values): values.map(\.plainValue)
    case .dictionary(let values): values.mapValues(\.plainValue)
    }
  }
}

// MARK: - In the store

extension MetadataValue {
  /// The kind of a value. On disk: add cases, never renumber.
  private enum Kind: UInt8 {
    case string = 1
    case integer = 2
    case double = 3
    case boolean = 4
    case date = 5
    case data = 6
    case array = 7
    case dictionary = 8
  }

  var encoded: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }

  private func write(to writer: inout ByteWriter) {
    func begin(_ kind: Kind) { writer.append(kind.rawValue) }
    switch self {
    case .string(let value):
      begin(.string)
      writer.append(value)
    case .integer(let value):
      begin(.integer)
      writer.append(value)
    case .double(let value):
      begin(.double)
      writer.append(value.bitPattern)
    case .boolean(let value):
      begin(.boolean)
      writer.append(value)
    case .date(let value):
      begin(.date)
      writer.append(value.timeIntervalSinceReferenceDate.bitPattern)
    case .data(let value):
      begin(.data)
      writer.append(contentsOf: value)
    case .array(let values):
      begin(.array)
      writer.append(UInt32(values.count))
      for value in values { value.write(to: &writer) }
    case .dictionary(let values):
      begin(.dictionary)
      writer.append(UInt32(values.count))
      // Sorted, so that equal metadata have equal bytes.
      for (key, value) in values.sorted(by: { $0.key < $1.key }) {
        writer.append(key)
        value.write(to: &writer)
      }
    }
  }

  init(encoded bytes: UnsafeRawBufferPointer) throws(ByteReaderError) {
    var reader = ByteReader(bytes)
    self = try MetadataValue(from: &reader, depth: 0)
    if !reader.isAtEnd { throw reader.failure("end") }
  }

  private init(from reader: inout ByteReader, depth: Int) throws(ByteReaderError) {
    guard depth <= MetadataValue.depthLimit else { throw reader.failure("less depth") }
    guard let kind = Kind(rawValue: try reader.read(UInt8.self)) else {
      throw reader.failure("known kind of value")
    }
    switch kind {
    case .string: self = .string(try reader.readString())
    case .integer: self = .integer(try reader.read(Int64.self))
    case .double: self = .double(Double(bitPattern: try reader.read(UInt64.self)))
    case .boolean: self = .boolean(try reader.readBool())
    case .date:
      self = .date(
        Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.read(UInt64.self))))
    case .data: self = .data(Data(try reader.readSlice()))
    case .array:
      var values: [MetadataValue] = []
      for _ in 0..<(try reader.readCount(minimumWidth: 2)) {
        values.append(try MetadataValue(from: &reader, depth: depth + 1))
      }
      self = .array(values)
    case .dictionary:
      var values: [String: MetadataValue] = [:]
      for _ in 0..<(try reader.readCount(minimumWidth: 6)) {
        let key = try reader.readString()
        values[key] = try MetadataValue(from: &reader, depth: depth + 1)
      }
      self = .dictionary(values)
    }
  }
}
