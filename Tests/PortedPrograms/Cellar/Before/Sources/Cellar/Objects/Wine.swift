public import CoreData
public import Foundation

/// A wine, of any colour. Its subclasses are the entities that are not abstract.
@objc(Wine)
open class Wine: NSManagedObject {
  @NSManaged public private(set) var identifier: UUID
  @NSManaged open var name: String
  @NSManaged open var producer: String?
  @NSManaged public private(set) var searchName: String?
  @NSManaged public internal(set) var bottles: Set<Bottle>

  public required override init(
    entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) {
    super.init(entity: entity, insertInto: context)
  }

  public convenience init(name: String, producer: String? = nil, in context: NSManagedObjectContext)
  {
    self.init(entity: Self.entity(), insertInto: context)
    self.name = name
    self.producer = producer
  }

  open override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: #keyPath(Wine.identifier))
  }

  /// How a label begins.
  @objc open dynamic var title: String {
    guard let producer else { return name }
    return "\(producer) \(name)"
  }

  @objc open class func keyPathsForValuesAffectingTitle() -> Set<String> {
    [#keyPath(Wine.name), #keyPath(Wine.producer)]
  }

  public var bottleCount: Int {
    bottles.reduce(0) { $0 + Int($1.quantity) }
  }
}

@objc(RedWine)
public final class RedWine: Wine {
  @NSManaged public var tannin: Double

  public override var title: String { "\(super.title) (red)" }

  @nonobjc public static func fetchRequest() -> NSFetchRequest<RedWine> {
    NSFetchRequest<RedWine>(entityName: "RedWine")
  }
}

@objc(SparklingWine)
public final class SparklingWine: Wine {
  @NSManaged public var isVintage: Bool
  @NSManaged public var pressure: NSNumber?

  @nonobjc public static func fetchRequest() -> NSFetchRequest<SparklingWine> {
    NSFetchRequest<SparklingWine>(entityName: "SparklingWine")
  }

  public override func validateForInsert() throws {
    try super.validateForInsert()
    guard let pressure, pressure.floatValue < 0 else { return }
    throw CellarError.invalid(key: #keyPath(SparklingWine.pressure))
  }
}
