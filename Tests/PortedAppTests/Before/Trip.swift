import CoreData
import Foundation

@objc(Trip)
public class Trip: NSManagedObject {
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
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Trip> {
    return NSFetchRequest<Trip>(entityName: "Trip")
  }

  @NSManaged public var createdAt: Date?
  @NSManaged public var endDate: Date?
  @NSManaged public var id: UUID?
  @NSManaged public var isFavorite: Bool
  @NSManaged public var name: String?
  @NSManaged public var rating: Int16
  @NSManaged public var startDate: Date?
  @NSManaged public var year: Int16
  @NSManaged public var places: NSOrderedSet?
  @NSManaged public var tags: NSSet?
}

extension Trip {
  @objc(addPlacesObject:)
  @NSManaged public func addToPlaces(_ value: Place)

  @objc(removePlacesObject:)
  @NSManaged public func removeFromPlaces(_ value: Place)

  @objc(addTagsObject:)
  @NSManaged public func addToTags(_ value: Tag)

  @objc(removeTagsObject:)
  @NSManaged public func removeFromTags(_ value: Tag)
}

@objc(Place)
public class Place: NSManagedObject {
  @NSManaged public var latitude: Double
  @NSManaged public var longitude: Double
  @NSManaged public var name: String?
  @NSManaged public var photo: Data?
  @NSManaged public var trip: Trip?
}

@objc(Tag)
public class Tag: NSManagedObject {
  @NSManaged public var name: String?
  @NSManaged public var trips: NSSet?

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
