public import Foundation
public import QuireCoreData

public final class Bottle: NSManagedObject, Identifiable {
  @QuireCoreData.Managed public var barcode: String?
  @QuireCoreData.Managed public var bought: Date?
  @QuireCoreData.Managed public var price: NSDecimalNumber?
  @QuireCoreData.Managed public var quantity: Int64
  @QuireCoreData.Managed public var vintage: Int16
  public var notes: Set<Note>? {
    get { value(forKey: "notes") as? Set<Note> }
    set { setValue(newValue, forKey: "notes") }
  }
  @QuireCoreData.Managed public var shelf: Shelf?
  @QuireCoreData.Managed public var wine: Wine

  public convenience init(
    of wine: Wine, vintage: Int, barcode: String? = nil, in context: NSManagedObjectContext
  ) {
    self.init(context: context)
    self.wine = wine
    self.vintage = Int16(vintage)
    self.barcode = barcode
  }

  public class func fetchRequest() -> NSFetchRequest<Bottle> {
    NSFetchRequest<Bottle>(entityName: "Bottle")
  }

  public var age: Int {
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
  public func addToNotes(_ value: Note) {
    mutableSetValue(forKey: "notes").add(value)
  }

  public func removeFromNotes(_ value: Note) {
    mutableSetValue(forKey: "notes").remove(value)
  }
}

public final class Note: NSManagedObject {
  @QuireCoreData.Managed public var stars: Int16
  @QuireCoreData.Managed public var text: String
  @QuireCoreData.Managed public var writtenAt: Date
  @QuireCoreData.Managed public var bottle: Bottle?

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date.now, forKey: "writtenAt")
  }
}

public final class Shelf: NSManagedObject {
  @QuireCoreData.Managed public var label: String
  @QuireCoreData.Managed public var slots: Int32
  public var bottles: NSOrderedSet? {
    get { value(forKey: "bottles") as? NSOrderedSet }
    set { setValue(newValue, forKey: "bottles") }
  }

  public var freeSlots: Int { Int(slots) - (bottles?.count ?? 0) }

  public func place(_ bottle: Bottle, at index: Int) {
    let all = mutableOrderedSetValue(forKey: "bottles")
    all.remove(bottle)
    all.insert(bottle, at: min(index, all.count))
  }
}
