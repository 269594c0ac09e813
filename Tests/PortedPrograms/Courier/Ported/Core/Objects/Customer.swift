import Foundation
import QuireCoreData

public final class Customer: NSManagedObject {
  public static let entityName = "Customer"

  @Managed public var email: String?
  @Managed public var name: String
  @Managed public var phone: String?
  @Managed public var parcels: Set<Parcel>

  public static func named(_ name: String, in context: NSManagedObjectContext) throws -> Customer {
    let request = NSFetchRequest<Customer>(entityName: entityName)
    request.predicate = NSPredicate(format: "%K =[c] %@", "name", name)
    if let customer = try context.fetch(request).first { return customer }
    let customer = Customer(context: context)
    customer.name = name
    return customer
  }

  public var totalWeight: Double {
    (value(forKeyPath: "parcels.@sum.weightInGrams") as? NSNumber)?.doubleValue ?? 0
  }
}

public final class Stop: NSManagedObject {
  public static let entityName = "Stop"

  @Managed public var address: String
  @Managed public var arrivedAt: Date?
  @Managed public var depot: Depot?
  @Managed public var parcel: Parcel?
}

public final class Depot: NSManagedObject {
  public static let entityName = "Depot"

  @Managed public var capacity: Int32
  @Managed public var name: String
  public var stops: NSSet? {
    get { value(forKey: "stops") as? NSSet }
    set { setValue(newValue, forKey: "stops") }
  }

  public var position: Coordinate? {
    get {
      willAccessValue(forKey: "position")
      defer { didAccessValue(forKey: "position") }
      return primitiveValue(forKey: "position") as? Coordinate
    }
    set {
      willChangeValue(forKey: "position")
      setPrimitiveValue(newValue, forKey: "position")
      didChangeValue(forKey: "position")
    }
  }
}

public final class Coordinate: NSObject {
  public let latitude: Double
  public let longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? Coordinate else { return false }
    return other.latitude == latitude && other.longitude == longitude
  }

  public override var hash: Int { latitude.hashValue ^ longitude.hashValue }

  public override var description: String { "\(latitude);\(longitude)" }
}
