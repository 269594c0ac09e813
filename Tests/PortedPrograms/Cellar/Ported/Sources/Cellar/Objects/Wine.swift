public import Foundation
public import QuireCoreData

/// A wine, of any colour. Its subclasses are the entities that are not abstract.
open class Wine: NSManagedObject {
  @QuireCoreData.Managed public private(set) var identifier: UUID
  @QuireCoreData.Managed open var name: String
  @QuireCoreData.Managed open var producer: String?
  @QuireCoreData.Managed public private(set) var searchName: String?
  @QuireCoreData.Managed public internal(set) var bottles: Set<Bottle>

  public convenience init(name: String, producer: String? = nil, in context: NSManagedObjectContext)
  {
    self.init(entity: Self.entity(), insertInto: context)
    self.name = name
    self.producer = producer
  }

  open override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: "identifier")
  }

  /// How a label begins.
  open var title: String {
    guard let producer else { return name }
    return "\(producer) \(name)"
  }

  open class func keyPathsForValuesAffectingTitle() -> Set<String> {
    ["name", "producer"]
  }

  public var bottleCount: Int {
    bottles.reduce(0) { $0 + Int($1.quantity) }
  }

  open override func value(forUndefinedKey key: String) -> Any? {
    switch key {
    case "title": return title
    default: return super.value(forUndefinedKey: key)
    }
  }
}

public final class RedWine: Wine {
  @QuireCoreData.Managed public var tannin: Double

  public override var title: String { "\(super.title) (red)" }

  public static func fetchRequest() -> NSFetchRequest<RedWine> {
    NSFetchRequest<RedWine>(entityName: "RedWine")
  }
}

public final class SparklingWine: Wine {
  @QuireCoreData.Managed public var isVintage: Bool
  @QuireCoreData.Managed public var pressure: NSNumber?

  public static func fetchRequest() -> NSFetchRequest<SparklingWine> {
    NSFetchRequest<SparklingWine>(entityName: "SparklingWine")
  }

  public override func validateForInsert() throws {
    try super.validateForInsert()
    guard let pressure, pressure.floatValue < 0 else { return }
    throw CellarError.invalid(key: "pressure")
  }
}
