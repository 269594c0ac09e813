import CoreData

@objc(Customer)
public final class Customer: NSManagedObject {
  public static let entityName = "Customer"

  @NSManaged public var email: String?
  @NSManaged public var name: String
  @NSManaged public var phone: String?
  @NSManaged public var parcels: Set<Parcel>

  public static func named(_ name: String, in context: NSManagedObjectContext) throws -> Customer {
    let request = NSFetchRequest<Customer>(entityName: entityName)
    request.predicate = NSPredicate(format: "%K =[c] %@", #keyPath(Customer.name), name)
    if let customer = try context.fetch(request).first { return customer }
    let customer = Customer(context: context)
    customer.name = name
    return customer
  }

  public var totalWeight: Double {
    (value(forKeyPath: "parcels.@sum.weightInGrams") as? NSNumber)?.doubleValue ?? 0
  }
}

@objc(Stop)
public final class Stop: NSManagedObject {
  public static let entityName = "Stop"

  @NSManaged public var address: String
  @NSManaged public var arrivedAt: Date?
  @NSManaged public var depot: Depot?
  @NSManaged public var parcel: Parcel?
}

@objc(Depot)
public final class Depot: NSManagedObject {
  public static let entityName = "Depot"

  @NSManaged public var capacity: Int32
  @NSManaged public var name: String
  @NSManaged public var stops: NSSet?

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
