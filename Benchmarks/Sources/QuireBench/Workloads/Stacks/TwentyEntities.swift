import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A model as small applications have it: 20 entities, each leading to the one before it.
///
/// The second version adds three attributes (two required, with a default), renames one, and
/// rewrites one entity without an attribute and with a new one.
enum TwentyEntities {
  static let entityCount = 20
  /// Objects of each entity in the fixture: 300 in all.
  static let objectCount = 15
  static let defaultRating = 3
  static let defaultStatus = "open"
  static let defaultWeight = 1.5

  static func name(_ number: Int) -> String { "Entity\(number.padded(2))" }

  static func model(version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: (1...entityCount).map { entity($0, version: version) })
  }

  static func versions() throws -> VersionedModel {
    let versions = try [1, 2].map { VersionedModel.Version("Twenty \($0)", try model(version: $0)) }
    guard let model = VersionedModel(name: "Twenty", versions: versions) else {
      throw BenchmarkError("two versions of one name")
    }
    return model
  }

  private static func entity(_ number: Int, version: Int) -> Entity {
    Entity(name(number)) {
      if version == 2 && number == 4 {
        Attribute("name", .string, optional: false, default: "", renamedFrom: "title")
      } else {
        Attribute("title", .string, optional: false, default: "")
      }
      Attribute("body", .string)
      if version == 2 && number == 5 {
        Attribute("weight", .double, optional: false, default: .double(defaultWeight))
      } else {
        Attribute("count", .integer32, optional: false, default: 0)
      }
      Attribute("price", .double)
      Attribute("createdAt", .date)
      Attribute("isOpen", .boolean, optional: false, default: false)
      if version == 2 {
        switch number {
        case 1: Attribute("note", .string)
        case 2:
          Attribute("rating", .integer16, optional: false, default: .integer(Int64(defaultRating)))
        case 3: Attribute("status", .string, optional: false, default: .string(defaultStatus))
        default: Attribute("kept", .integer16)
        }
      } else if number > 3 {
        Attribute("kept", .integer16)
      }
      if number > 1 { Relationship("parent", toOne: name(number - 1), inverse: "children") }
      if number < entityCount {
        Relationship("children", toMany: name(number + 1), inverse: "parent")
      }
    }
  }

  // MARK: Content

  static func title(_ number: Int, _ key: Int) -> String { "Title \(number) of \(key)" }
  static func count(_ number: Int, _ key: Int) -> Int { number * 1_000 + key }
  static func price(_ number: Int, _ key: Int) -> Double {
    Double(mix(UInt64(count(number, key))) % 10_000) / 4
  }
  static func createdAt(_ number: Int, _ key: Int) -> Double { 7e8 + Double(count(number, key)) }
  static func isOpen(_ number: Int, _ key: Int) -> Bool { (number + key) & 1 == 0 }

  /// 200 letters, 240 in every third entity, where they need one page more: a store of about 260
  /// KB, as large as the seed's stores.
  static func body(_ number: Int, _ key: Int) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz      ".utf8)
    let length = number % 3 == 0 ? 240 : 200
    let bytes = (0..<length).map { letters[Int(mix(UInt64(count(number, key) * 1_000 + $0)) % 32)] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Adds up what must not change with the migration, so that both contenders can be compared with
  /// it.
  struct Sum: Equatable {
    var objectCount = 0
    var textByteCount = 0
    var price = 0.0
    var createdAt = 0.0
    var openCount = 0
    var parentCount = 0

    mutating func add(
      textByteCount: Int, price: Double, createdAt: Double, isOpen: Bool, hasParent: Bool
    ) {
      objectCount += 1
      self.textByteCount += textByteCount
      self.price += price
      self.createdAt += createdAt
      openCount += isOpen ? 1 : 0
      parentCount += hasParent ? 1 : 0
    }

    static func expected() -> Sum {
      var sum = Sum()
      for number in 1...entityCount {
        for key in 1...TwentyEntities.objectCount {
          sum.add(
            textByteCount: title(number, key).utf8.count + body(number, key).utf8.count,
            price: TwentyEntities.price(number, key),
            createdAt: TwentyEntities.createdAt(number, key), isOpen: isOpen(number, key),
            hasParent: number > 1)
        }
      }
      return sum
    }
  }
}
