import Foundation
import QuireCoreData

public class Trip: NSManagedObject {
  @Managed public var createdAt: Date?
  @Managed public var endDate: Date?
  @Managed public var id: UUID?
  @Managed public var isFavorite: Bool
  @Managed public var name: String?
  @Managed public var rating: Int16
  @Managed public var startDate: Date?
  @Managed public var year: Int16
  public var places: NSOrderedSet? {
    get { value(forKey: "places") as? NSOrderedSet }
    set { setValue(newValue, forKey: "places") }
  }
  public var tags: NSSet? {
    get { value(forKey: "tags") as? NSSet }
    set { setValue(newValue, forKey: "tags") }
  }

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: "id")
    setPrimitiveValue(Date(), forKey: "createdAt")
  }

  public override func willSave() {
    super.willSave()
    guard let startDate = startDate, !isDeleted else { return }
    let wanted = Int16(Calendar.current.component(.year, from: startDate))
    if year != wanted { year = wanted }
  }

  public override func validateForInsert() throws {
    try super.validateForInsert()
    try validateDates()
  }

  public override func validateForUpdate() throws {
    try super.validateForUpdate()
    try validateDates()
  }

  private func validateDates() throws {
    guard let startDate = startDate, let endDate = endDate, endDate < startDate else { return }
    throw NSError(
      domain: "Trips", code: 1,
      userInfo: [NSLocalizedDescriptionKey: "The trip ends before it starts"])
  }

  var placeNames: String {
    let places = self.places?.array as? [Place] ?? []
    return places.compactMap { $0.name }.joined(separator: ", ")
  }
}

extension Trip {
  public class func fetchRequest() -> NSFetchRequest<Trip> {
    return NSFetchRequest<Trip>(entityName: "Trip")
  }
}

extension Trip {
  public func addToPlaces(_ value: Place) {
    mutableOrderedSetValue(forKey: "places").add(value)
  }

  public func removeFromPlaces(_ value: Place) {
    mutableOrderedSetValue(forKey: "places").remove(value)
  }

  public func addToTags(_ value: Tag) {
    mutableSetValue(forKey: "tags").add(value)
  }

  public func removeFromTags(_ value: Tag) {
    mutableSetValue(forKey: "tags").remove(value)
  }
}

public class Place: NSManagedObject {
  @Managed public var latitude: Double
  @Managed public var longitude: Double
  @Managed public var name: String?
  @Managed public var photo: Data?
  @Managed public var trip: Trip?
}

public class Tag: NSManagedObject {
  @Managed public var name: String?
  public var trips: NSSet? {
    get { value(forKey: "trips") as? NSSet }
    set { setValue(newValue, forKey: "trips") }
  }

  static func named(_ name: String, in context: NSManagedObjectContext) throws -> Tag {
    let request = NSFetchRequest<Tag>(entityName: "Tag")
    request.predicate = NSPredicate(format: "name ==[c] %@", name)
    request.fetchLimit = 1
    if let tag = try context.fetch(request).first { return tag }
    let tag = Tag(context: context)
    tag.name = name
    return tag
  }
}
