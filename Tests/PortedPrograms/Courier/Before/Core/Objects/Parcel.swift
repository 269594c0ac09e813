import CoreData

public enum ParcelState: Int16, CaseIterable, Codable {
  case waiting, loaded, delivered, returned

  public init(legacyName: String?) {
    switch legacyName?.lowercased() {
    case "loaded", "on the way": self = .loaded
    case "delivered", "done": self = .delivered
    case "returned": self = .returned
    default: self = .waiting
    }
  }
}

@objc(Parcel)
public final class Parcel: NSManagedObject {
  public static let entityName = "Parcel"

  @NSManaged public var code: String
  @NSManaged public var labels: [String]?
  @NSManaged public var price: NSDecimalNumber?
  @NSManaged public var uploadedAt: Date?
  @NSManaged public var version: Int64
  @NSManaged public var weightInGrams: Double
  @NSManaged public var customer: Customer?
  @NSManaged public var stops: NSOrderedSet?
  @NSManaged private var primitiveState: NSNumber

  @objc public dynamic var stateValue: Int16 {
    get {
      willAccessValue(forKey: "state")
      defer { didAccessValue(forKey: "state") }
      return primitiveState.int16Value
    }
    set {
      willChangeValue(forKey: "state")
      primitiveState = NSNumber(value: newValue)
      didChangeValue(forKey: "state")
    }
  }

  public var state: ParcelState {
    get { ParcelState(rawValue: stateValue) ?? .waiting }
    set { stateValue = newValue.rawValue }
  }

  public convenience init(code: String, in context: NSManagedObjectContext) {
    self.init(entity: Parcel.entity(), insertInto: context)
    self.code = code
  }

  public var route: [Stop] { stops?.array as? [Stop] ?? [] }

  public var needsUpload: Bool { uploadedAt == nil || hasPersistentChangedValues }

  public override func willSave() {
    super.willSave()
    if isDeleted || isInserted || entity.attributesByName["version"] == nil { return }
    let keys = Set(changedValues().keys).subtracting(["version", "uploadedAt"])
    if !keys.isEmpty, changedValues()["version"] == nil {
      setPrimitiveValue(version + 1, forKey: "version")
    }
  }

  public override func validateForUpdate() throws {
    try super.validateForUpdate()
    if state == .delivered, route.contains(where: { $0.arrivedAt == nil }) {
      throw CourierError.undeliveredStops(code: code)
    }
  }
}

extension Parcel {
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Parcel> {
    NSFetchRequest<Parcel>(entityName: entityName)
  }

  @objc(insertObject:inStopsAtIndex:)
  @NSManaged public func insertIntoStops(_ value: Stop, at idx: Int)

  @objc(addStopsObject:)
  @NSManaged public func addToStops(_ value: Stop)

  @objc(removeStopsObject:)
  @NSManaged public func removeFromStops(_ value: Stop)

  @objc(addStops:)
  @NSManaged public func addToStops(_ values: NSOrderedSet)
}

public enum CourierError: Error, Equatable {
  case undeliveredStops(code: String)
  case noModel(String)
  case noPath(from: String)
  case unreadable(line: Int)
}
