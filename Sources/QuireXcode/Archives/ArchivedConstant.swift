import Foundation
import QuireModel

extension ArchivedItem {
  /// The value of an expression that is constant; collections become aggregates.
  func constant() throws(PropertyListError) -> FetchExpression {
    switch value {
    case .string(let text): return .constant(.value(.string(text)))
    case .integer(let number): return .constant(.value(.integer(number)))
    case .real(let number): return .constant(.value(.double(number)))
    case .boolean(let flag): return .constant(.value(.boolean(flag)))
    case .date(let date): return .constant(.value(.date(date)))
    case .data(let data): return .constant(.value(.binary(data)))
    case .uid, .array: throw error("is no value that an archive has")
    case .dictionary: return try archivedConstant()
    }
  }

  private func archivedConstant() throws(PropertyListError) -> FetchExpression {
    let name = try className() ?? "dictionary"
    switch name {
    case "NSString", "NSMutableString": return .constant(.value(.string(try text())))
    case "NSData", "NSMutableData": return .constant(.value(.binary(try data())))
    case "NSNull": return .constant(nil)
    case "NSDate":
      switch try required("NS.time").value {
      case .real(let time):
        return .constant(.value(.date(Date(timeIntervalSinceReferenceDate: time))))
      case .integer(let time):
        return .constant(.value(.date(Date(timeIntervalSinceReferenceDate: Double(time)))))
      default: throw error("is not a date")
      }
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
      return .constant(.value(.decimal(try decimal())))
    case "NSUUID":
      let bytes = Array(try required("NS.uuidbytes").data())
      guard bytes.count == 16 else { throw error("is a UUID of \(bytes.count) bytes") }
      return .constant(
        .value(.uuid(bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) })))
    case "NSURL":
      let base = try item("NS.base")?.required("NS.relative").text()
      let text = try required("NS.relative").text()
      guard let url = URL(string: text, relativeTo: base.flatMap { URL(string: $0) }) else {
        throw error("is no URL: “\(text)”")
      }
      return .constant(.value(.uri(url.absoluteURL)))
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet",
      "NSMutableOrderedSet":
      var members: [FetchExpression] = []
      for member in try self.members() { members.append(try member?.constant() ?? .constant(nil)) }
      return .aggregate(members)
    default: throw error("is a constant of the class \(name), which expressions here cannot have")
    }
  }

  /// The digits are in sixteen-bit groups, the lowest first, each in the byte order that is noted.
  private func decimal() throws(PropertyListError) -> Decimal {
    let bytes = Array(try required("NS.mantissa").data())
    let isBigEndian = try integer("NS.mantissa.bo") == 2
    let exponent = try integer("NS.exponent")
    guard bytes.count <= 16, bytes.count.isMultiple(of: 2), (-128...127).contains(exponent) else {
      throw error("is a damaged decimal number")
    }
    let length = try item("NS.length")?.integer()
    let isNegative = try integer("NS.negative") != 0
    if length == 0 { return isNegative ? .nan : 0 }
    var mantissa: Decimal = 0
    for index in stride(from: bytes.count - 2, through: 0, by: -2) {
      let (first, second) = (Int(bytes[index]), Int(bytes[index + 1]))
      mantissa =
        mantissa * 65_536 + Decimal(isBigEndian ? first << 8 | second : second << 8 | first)
    }
    return Decimal(
      sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: mantissa)
  }
}
