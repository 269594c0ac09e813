import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Transformable attributes: values to whoever looks, bytes in the store.
@Suite struct TransformableTests {
  struct Palette: TransformableValue, ManagedValue, Equatable {
    var name = ""
    var weights: [String: Double] = [:]
    static var empty: Palette { Palette() }
  }

  /// Keeps texts backwards, and refuses empty ones.
  struct Backwards: Quire.ValueTransformer {
    struct Refusal: Error {}

    func transformedValue(_ value: Any) throws -> Data {
      guard let text = value as? String, !text.isEmpty else { throw Refusal() }
      return Data(String(text.reversed()).utf8)
    }
    func reverseTransformedValue(_ data: Data) throws -> Any {
      if data == Data("damaged".utf8) { throw Refusal() }
      return String(String(decoding: data, as: UTF8.self).reversed())
    }
  }

  final class Artwork: ManagedObject {
    @Managed var palette: Palette
    @Managed var tags: [String]?
    @Managed var marks: Set<Int>?
    @Managed var raw: Data?
    @Managed var secret: [String]?
  }

  private static let model = try! ManagedObjectModel {
    Entity("Artwork") {
      Attribute("palette", .transformable, transformer: "Palette")
      Attribute("tags", .transformable)
      Attribute("marks", .transformable)
      Attribute("raw", .transformable)
      Attribute("motto", .transformable, transformer: "Backwards")
      Attribute("secret", .transformable, transformer: "Nobody")
      Attribute("title", .string)
    }
  }

  private static let transformers: ValueTransformers = [
    "Palette": CodableTransformer(Palette.self), "Backwards": Backwards(),
  ]

  private func context() throws -> ManagedObjectContext {
    try ManagedObjectContext.stubbed(
      Self.model, classes: [Artwork.self], transformers: Self.transformers)
  }

  /// The only artwork, as another context sees it.
  private func read(_ context: ManagedObjectContext) throws -> Artwork {
    let other = SmallGallery.sibling(of: context)
    let artwork = try #require(try other.fetch(FetchRequest<Artwork>()).first)
    keep.append(other)
    return artwork
  }

  private final class Keeper {
    var contexts: [ManagedObjectContext] = []
    func append(_ context: ManagedObjectContext) { contexts.append(context) }
  }
  private let keep = Keeper()

  @Test func `typed properties of Codable types come back as they were saved`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    #expect(artwork.palette == .empty && artwork.tags == nil)
    artwork.palette = Palette(name: "dusk", weights: ["red": 0.1, "blue": .infinity])
    artwork.tags = ["oil", "caf\u{E9}/\u{1F3A8}"]
    artwork.marks = [3, 1, 2]
    artwork.raw = Data([1, 2])
    #expect(artwork.tags == ["oil", "caf\u{E9}/\u{1F3A8}"])
    try context.save()
    let found = try read(context)
    #expect(found.palette == Palette(name: "dusk", weights: ["red": 0.1, "blue": .infinity]))
    #expect(found.tags == ["oil", "caf\u{E9}/\u{1F3A8}"] && found.marks == [1, 2, 3])
    #expect(found.raw == Data([1, 2]))
    found.tags = nil
    #expect(found.tags == nil)
  }

  @Test func `key-value coding takes and gives values, not bytes`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    try artwork.setValue("carpe diem", forKey: "motto")
    try artwork.setValue(Palette(name: "dawn"), forKey: "palette")
    #expect(try artwork.value(forKey: "motto") as? String == "carpe diem")
    #expect(artwork.changedValues()["motto"] as? String == "carpe diem")
    try context.save()
    let found = try read(context)
    #expect(try found.value(forKey: "motto") as? String == "carpe diem")
    #expect(try found.value(forKeyPath: "motto.length") as? Int == 10)
    #expect(try found.value(forKey: "palette") as? Palette == Palette(name: "dawn"))
    try found.setPrimitiveValue("sapere aude", forKey: "motto")
    #expect(try found.primitiveValue(forKey: "motto") as? String == "sapere aude")
    #expect(try found.committedValues(forKeys: ["motto"])["motto"] as? String == "carpe diem")
    try found.setValue(nil, forKey: "motto")
    #expect(try found.value(forKey: "motto") == nil)
  }

  @Test func `a value set to what it is is no change`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    artwork.palette = Palette(name: "dusk", weights: ["a": 1, "b": 2, "c": 3, "d": 4, "e": 5])
    try context.save()
    for _ in 1...5 {
      artwork.palette = Palette(name: "dusk", weights: ["e": 5, "d": 4, "c": 3, "b": 2, "a": 1])
      #expect(!artwork.hasPersistentChangedValues)
    }
    artwork.palette.weights["a"] = 2
    #expect(artwork.changedValues().keys.sorted() == ["palette"])
  }

  @Test func `a value refused by a transformer is a validation error and changes nothing`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    try artwork.setValue("carpe diem", forKey: "motto")
    let error = #expect(throws: PersistenceError.self) { try artwork.setValue("", forKey: "motto") }
    #expect(error?.code == .managedObjectValidation && error?.key == "motto")
    #expect(error?.underlying is Backwards.Refusal)
    #expect(throws: PersistenceError.self) { try artwork.setValue(7, forKey: "palette") }
    #expect(try artwork.value(forKey: "motto") as? String == "carpe diem")
  }

  @Test func `bytes that are no value are an error that names the attribute`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    let bytes = AttributeValue.transformed(Data("damaged".utf8))
    try artwork.setValue(bytes, forKey: "motto")
    let error = #expect(throws: PersistenceError.self) { try artwork.value(forKey: "motto") }
    #expect(error?.code == .coreData && error?.message.contains("Artwork.motto") == true)
    try artwork.setValue(AttributeValue.transformed(Data("[1]".utf8)), forKey: "tags")
    #expect(artwork.tags == nil)
    #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest<Artwork>()) }
  }

  @Test func `without its transformer an attribute is bytes, and says what is missing`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    try artwork.setValue(Data([7]), forKey: "secret")
    #expect(try artwork.value(forKey: "secret") as? Data == Data([7]))
    let error = #expect(throws: PersistenceError.self) {
      try artwork.setValue(["a"], forKey: "secret")
    }
    #expect(error?.message.contains("Nobody") == true && error?.code == .unacceptableValue)
    artwork.secret = ["a"]
    let kept = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(kept?.message.contains("Nobody") == true)
    try context.save()
    #expect(try read(context).value(forKey: "secret") as? Data == Data([7]))
  }

  @Test func `transformers belong to a coordinator`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    try artwork.setValue("carpe diem", forKey: "motto")
    let plain = try ManagedObjectContext.stubbed(Self.model, classes: [Artwork.self])
    #expect(throws: PersistenceError.self) {
      try Artwork(context: plain).setValue("carpe diem", forKey: "motto")
    }
  }

  @Test func `39 – what a value leads to is not watched`() throws {
    let context = try context()
    let artwork = Artwork(context: context)
    var tags = ["a"]
    artwork.tags = tags
    tags.append("b")
    #expect(artwork.tags == ["a"])
    artwork.tags?.append("c")
    #expect(artwork.tags == ["a", "c"])
  }
}
