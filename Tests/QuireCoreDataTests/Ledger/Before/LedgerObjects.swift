import CoreData
import Foundation

/// The errors of the ledger's own rules.
enum LedgerError {
  static let domain = "Ledger"
  static let unbalanced = 1
  static let closedYear = 2
  static let unknownVersion = 3

  static func error(_ code: Int, _ description: String) -> NSError {
    return NSError(domain: domain, code: code, userInfo: [NSLocalizedDescriptionKey: description])
  }
}

@objc(Account)
class Account: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var opened: Date?
  @NSManaged var currency: String?
  @NSManaged var entries: NSSet?

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date(), forKey: #keyPath(Account.opened))
  }

  var sortedEntries: [Entry] {
    let order = [NSSortDescriptor(key: #keyPath(Entry.date), ascending: true)]
    return entries?.sortedArray(using: order) as? [Entry] ?? []
  }

  var balance: NSDecimalNumber {
    return sortedEntries.reduce(NSDecimalNumber.zero) { sum, entry in
      sum.adding(entry.amount ?? NSDecimalNumber.zero)
    }
  }

  private var unclearedCount = 0

  override func prepareForDeletion() {
    super.prepareForDeletion()
    unclearedCount = sortedEntries.filter { !$0.isCleared }.count
  }

  override func validateForDelete() throws {
    try super.validateForDelete()
    guard unclearedCount == 0 else {
      throw LedgerError.error(
        LedgerError.unbalanced, "\(unclearedCount) entries of \(name ?? "") are not cleared")
    }
  }
}

extension Account {
  @objc(addEntriesObject:)
  @NSManaged func addToEntries(_ value: Entry)

  @objc(removeEntriesObject:)
  @NSManaged func removeFromEntries(_ value: Entry)
}

@objc(Entry)
class Entry: NSManagedObject {
  /// The first day on which entries may still be made.
  static var firstOpenDay = Date.distantPast

  @NSManaged var identifier: UUID?
  @NSManaged var amount: NSDecimalNumber?
  @NSManaged var date: Date?
  @NSManaged var note: String?
  @NSManaged var isCleared: Bool
  @NSManaged var account: Account?
  @NSManaged var category: Category?

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: #keyPath(Entry.identifier))
    setPrimitiveValue(Date(), forKey: #keyPath(Entry.date))
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    try validateDay()
  }

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try validateDay()
  }

  private func validateDay() throws {
    guard let date = date, date < Entry.firstOpenDay else { return }
    throw LedgerError.error(LedgerError.closedYear, "The year of this entry is closed")
  }

  override func willSave() {
    super.willSave()
    if let text = note, text != text.trimmingCharacters(in: .whitespaces) {
      note = text.trimmingCharacters(in: .whitespaces)
    }
  }
}

@objc(Category)
class Category: NSManagedObject {
  @NSManaged var title: String?
  @NSManaged var position: Int16
  @NSManaged var entries: NSSet?

  class func titled(_ title: String, in context: NSManagedObjectContext) throws -> Category {
    let request = NSFetchRequest<Category>(entityName: "Category")
    request.predicate = NSPredicate(format: "%K ==[cd] %@", #keyPath(Category.title), title)
    request.fetchLimit = 1
    if let category = try context.fetch(request).first { return category }
    let category = Category(context: context)
    category.title = title
    let all = NSFetchRequest<Category>(entityName: "Category")
    category.position = Int16(try context.count(for: all))
    return category
  }
}
