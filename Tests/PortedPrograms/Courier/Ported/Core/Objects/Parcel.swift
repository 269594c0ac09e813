import Foundation
import QuireCoreData

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

public final class Parcel: NSManagedObject {
  public static let entityName = "Parcel"

  @Managed public var code: String
  @Managed public var labels: [String]?
  @Managed public var price: NSDecimalNumber?
  @Managed public var uploadedAt: Date?
  @Managed public var version: Int64
  @Managed public var weightInGrams: Double
  @Managed public var customer: Customer?
  public var stops: NSOrderedSet? {
    get { value(forKey: "stops") as? NSOrderedSet }
    set { setValue(newValue, forKey: "stops") }
  }
  private var primitiveState: NSNumber {
    get { primitiveValue(forKey: "state") as! NSNumber }
    set { setPrimitiveValue(newValue, forKey: "state") }
  }

  public var stateValue: Int16 {
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
  public class func fetchRequest() -> NSFetchRequest<Parcel> {
    NSFetchRequest<Parcel>(entityName: entityName)
  }

  public func insertIntoStops(_ value: Stop, at idx: Int) {
    mutableOrderedSetValue(forKey: "stops").insert(value, at: idx)
  }

  public func addToStops(_ value: Stop) {
    mutableOrderedSetValue(forKey: "stops").add(value)
  }

  public func removeFromStops(_ value: Stop) {
    mutableOrderedSetValue(forKey: "stops").remove(value)
  }

  public func addToStops(_ values: NSOrderedSet) {
    let members = mutableOrderedSetValue(forKey: "stops")
    for value in values { members.add(value) }
  }
}

public enum CourierError: Error, Equatable {
  case undeliveredStops(code: String)
  case noModel(String)
  case noPath(from: String)
  case unreadable(line: Int)
}
