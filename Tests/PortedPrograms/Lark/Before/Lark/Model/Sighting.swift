import CoreData
import Foundation

@objc(Sighting)
public class Sighting: NSManagedObject {
  @NSManaged fileprivate(set) var identifier: UUID?
  @NSManaged var count: Int32
  @NSManaged var isRead: Bool
  @NSManaged var notes: String?
  @NSManaged var rating: NSNumber?
  @NSManaged var remoteID: String?
  @NSManaged var seenAt: Date
  @NSManaged var checklist: Checklist?
  @NSManaged var photos: NSOrderedSet
  @NSManaged var place: Place?
  @NSManaged var species: Species

  @NSManaged var markedForDeletionDate: Date?
  @NSManaged fileprivate var primitiveIdentifier: UUID?
  @NSManaged fileprivate var primitiveSeenAt: Date

  /// The heading of the list: month and year.
  @objc var monthTitle: String {
    willAccessValue(forKey: "seenAt")
    defer { didAccessValue(forKey: "seenAt") }
    let parts = Sighting.calendar.dateComponents([.year, .month], from: seenAt)
    return "\(Sighting.months[parts.month! - 1]) \(parts.year!)"
  }

  static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  static let calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    return calendar
  }()

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    primitiveIdentifier = UUID()
    primitiveSeenAt = Date()
  }

  public override func prepareForDeletion() {
    super.prepareForDeletion()
    Sighting.deletionHandler?(objectID)
  }

  static var deletionHandler: ((NSManagedObjectID) -> Void)?

  public override func validateForInsert() throws {
    try super.validateForInsert()
    try validateDate()
  }

  public override func validateForUpdate() throws {
    try super.validateForUpdate()
    try validateDate()
  }

  private func validateDate() throws {
    guard seenAt > Date(timeIntervalSinceNow: 60 * 60 * 24) else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
      userInfo: [
        NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: #keyPath(seenAt),
        NSLocalizedDescriptionKey: "A sighting cannot be in the future.",
      ])
  }

  public override func validateValue(
    _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
  ) throws {
    if key == #keyPath(rating), let number = value.pointee as? NSNumber,
      !(1...5).contains(number.intValue)
    {
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSValidationNumberTooLargeError,
        userInfo: [NSValidationKeyErrorKey: key])
    }
    try super.validateValue(value, forKey: key)
  }

  var allPhotos: [Photo] {
    return photos.array as! [Photo]
  }

  func addPhoto(_ data: Data, caption: String?) {
    let photo =
      NSEntityDescription.insertNewObject(
        forEntityName: "Photo", into: managedObjectContext!) as! Photo
    photo.data = data
    photo.caption = caption
    mutableOrderedSetValue(forKey: #keyPath(photos)).add(photo)
  }

  func movePhoto(from source: Int, to destination: Int) {
    mutableOrderedSetValue(forKey: #keyPath(photos)).moveObjects(
      at: IndexSet(integer: source), to: destination)
  }

  static func insert(
    into context: NSManagedObjectContext, species: Species, place: Place?, count: Int,
    seenAt: Date = Date()
  ) -> Sighting {
    let sighting: Sighting = context.insertObject()
    sighting.species = species
    sighting.place = place
    sighting.count = Int32(count)
    sighting.seenAt = seenAt
    return sighting
  }
}

extension Sighting: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(key: #keyPath(seenAt), ascending: false)]
  }

  static var defaultPredicate: NSPredicate {
    return notMarkedForLocalDeletionPredicate
  }
}

extension Sighting: DelayedDeletable {}

extension Sighting {
  static func unreadPredicate(since date: Date?) -> NSPredicate {
    let unread = NSPredicate(format: "%K == %@", #keyPath(isRead), NSNumber(value: false))
    guard let date = date else { return unread }
    let recent = NSPredicate(format: "%K >= %@", #keyPath(seenAt), date as CVarArg)
    return NSCompoundPredicate(type: .and, subpredicates: [unread, recent])
  }

  @nonobjc class func fetchRequest() -> NSFetchRequest<Sighting> {
    return NSFetchRequest<Sighting>(entityName: "Sighting")
  }
}
