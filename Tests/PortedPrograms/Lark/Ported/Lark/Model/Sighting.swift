import Foundation
import QuireCoreData

public class Sighting: NSManagedObject {
  @QuireCoreData.Managed fileprivate(set) var identifier: UUID?
  @QuireCoreData.Managed var count: Int32
  @QuireCoreData.Managed var isRead: Bool
  @QuireCoreData.Managed var notes: String?
  @QuireCoreData.Managed var rating: NSNumber?
  @QuireCoreData.Managed var remoteID: String?
  @QuireCoreData.Managed var seenAt: Date
  @QuireCoreData.Managed var checklist: Checklist?
  var photos: NSOrderedSet {
    get { value(forKey: "photos") as? NSOrderedSet ?? NSOrderedSet() }
    set { setValue(newValue, forKey: "photos") }
  }
  @QuireCoreData.Managed var place: Place?
  @QuireCoreData.Managed var species: Species

  @QuireCoreData.Managed var markedForDeletionDate: Date?
  fileprivate var primitiveIdentifier: UUID? {
    get { primitiveValue(forKey: "identifier") as? UUID }
    set { setPrimitiveValue(newValue, forKey: "identifier") }
  }
  fileprivate var primitiveSeenAt: Date {
    get { primitiveValue(forKey: "seenAt") as! Date }
    set { setPrimitiveValue(newValue, forKey: "seenAt") }
  }

  /// The heading of the list: month and year.
  var monthTitle: String {
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
        NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: "seenAt",
        NSLocalizedDescriptionKey: "A sighting cannot be in the future.",
      ])
  }

  public override func validateValue(
    _ value: inout Any?, forKey key: String
  ) throws {
    if key == "rating", let number = value as? NSNumber,
      !(1...5).contains(number.intValue)
    {
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSValidationNumberTooLargeError,
        userInfo: [NSValidationKeyErrorKey: key])
    }
    try super.validateValue(&value, forKey: key)
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
    mutableOrderedSetValue(forKey: "photos").add(photo)
  }

  func movePhoto(from source: Int, to destination: Int) {
    mutableOrderedSetValue(forKey: "photos").moveObjects(
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

  public override func value(forUndefinedKey key: String) -> Any? {
    switch key {
    case "monthTitle": return monthTitle
    default: return super.value(forUndefinedKey: key)
    }
  }
}

extension Sighting: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(key: "seenAt", ascending: false)]
  }

  static var defaultPredicate: NSPredicate {
    return notMarkedForLocalDeletionPredicate
  }
}

extension Sighting: DelayedDeletable {}

extension Sighting {
  static func unreadPredicate(since date: Date?) -> NSPredicate {
    let unread = NSPredicate(format: "%K == %@", "isRead", NSNumber(value: false))
    guard let date = date else { return unread }
    let recent = NSPredicate(format: "%K >= %@", "seenAt", date)
    return NSCompoundPredicate(type: .and, subpredicates: [unread, recent])
  }

  class func fetchRequest() -> NSFetchRequest<Sighting> {
    return NSFetchRequest<Sighting>(entityName: "Sighting")
  }
}
