public import CoreData
public import Foundation

@objc(Bottle)
public final class Bottle: NSManagedObject, Identifiable {
  @NSManaged public var barcode: String?
  @NSManaged public var bought: Date?
  @NSManaged public var price: NSDecimalNumber?
  @NSManaged public var quantity: Int64
  @NSManaged public var vintage: Int16
  @NSManaged public var notes: Set<Note>?
  @NSManaged public var shelf: Shelf?
  @NSManaged public var wine: Wine

  public convenience init(
    of wine: Wine, vintage: Int, barcode: String? = nil, in context: NSManagedObjectContext
  ) {
    self.init(context: context)
    self.wine = wine
    self.vintage = Int16(vintage)
    self.barcode = barcode
  }

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Bottle> {
    NSFetchRequest<Bottle>(entityName: "Bottle")
  }

  @objc public var age: Int {
    Calendar(identifier: .gregorian).component(.year, from: .now) - Int(vintage)
  }

  /// Of all notes, by key-value coding.
  public var averageStars: Double? {
    guard let notes, !notes.isEmpty else { return nil }
    return value(forKeyPath: "notes.@avg.stars") as? Double
  }

  public func drink(_ count: Int = 1) throws {
    guard Int(quantity) >= count else { throw CellarError.empty(objectID) }
    quantity -= Int64(count)
  }

  public override func didSave() {
    super.didSave()
    if isDeleted { Log.shared.record("deleted \(objectID.uriRepresentation().lastPathComponent)") }
  }
}

extension Bottle {
  @objc(addNotesObject:)
  @NSManaged public func addToNotes(_ value: Note)

  @objc(removeNotesObject:)
  @NSManaged public func removeFromNotes(_ value: Note)
}

@objc(Note)
public final class Note: NSManagedObject {
  @NSManaged public var stars: Int16
  @NSManaged public var text: String
  @NSManaged public var writtenAt: Date
  @NSManaged public var bottle: Bottle?

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date.now, forKey: "writtenAt")
  }
}

@objc(Shelf)
public final class Shelf: NSManagedObject {
  @NSManaged public var label: String
  @NSManaged public var slots: Int32
  @NSManaged public var bottles: NSOrderedSet?

  public var freeSlots: Int { Int(slots) - (bottles?.count ?? 0) }

  public func place(_ bottle: Bottle, at index: Int) {
    let all = mutableOrderedSetValue(forKey: #keyPath(Shelf.bottles))
    all.remove(bottle)
    all.insert(bottle, at: min(index, all.count))
  }
}
