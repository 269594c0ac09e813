import Foundation
import Quire

public class Trip: ManagedObject {
  @Managed public var createdAt: Date?
  @Managed public var endDate: Date?
  @Managed public var id: UUID?
  @Managed public var isFavorite: Bool
  @Managed public var name: String?
  @Managed public var rating: Int16
  @Managed public var startDate: Date?
  @Managed public var year: Int16
  @Managed public var places: [Place]
  @Managed public var tags: Set<Tag>

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    id = UUID()
    createdAt = Date()
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
    return places.compactMap { $0.name }.joined(separator: ", ")
  }
}

extension Trip {
  public class func fetchRequest() -> FetchRequest<Trip> {
    return FetchRequest<Trip>(entityName: "Trip")
  }
}

public class Place: ManagedObject {
  @Managed public var latitude: Double
  @Managed public var longitude: Double
  @Managed public var name: String?
  @Managed public var photo: Data?
  @Managed public var trip: Trip?
}

public class Tag: ManagedObject {
  @Managed public var name: String?
  @Managed public var trips: Set<Trip>

  static func named(_ name: String, in context: ManagedObjectContext) throws -> Tag {
    var request = FetchRequest<Tag>(entityName: "Tag")
    request.predicate = try FetchPredicate(format: "name ==[c] %@", name)
    request.fetchLimit = 1
    if let tag = try context.fetch(request).first { return tag }
    let tag = Tag(context: context)
    tag.name = name
    return tag
  }
}
