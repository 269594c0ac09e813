import Foundation
import QuireCoreData

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

class Account: NSManagedObject {
  @Managed var name: String?
  @Managed var opened: Date?
  @Managed var currency: String?
  var entries: NSSet? {
    get { value(forKey: "entries") as? NSSet }
    set { setValue(newValue, forKey: "entries") }
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date(), forKey: "opened")
  }

  var sortedEntries: [Entry] {
    let order = [NSSortDescriptor(key: "date", ascending: true)]
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
  func addToEntries(_ value: Entry) {
    mutableSetValue(forKey: "entries").add(value)
  }

  func removeFromEntries(_ value: Entry) {
    mutableSetValue(forKey: "entries").remove(value)
  }
}

class Entry: NSManagedObject {
  /// The first day on which entries may still be made.
  static var firstOpenDay = Date.distantPast

  @Managed var identifier: UUID?
  @Managed var amount: NSDecimalNumber?
  @Managed var date: Date?
  @Managed var note: String?
  @Managed var isCleared: Bool
  @Managed var account: Account?
  @Managed var category: Category?

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: "identifier")
    setPrimitiveValue(Date(), forKey: "date")
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

class Category: NSManagedObject {
  @Managed var title: String?
  @Managed var position: Int16
  var entries: NSSet? {
    get { value(forKey: "entries") as? NSSet }
    set { setValue(newValue, forKey: "entries") }
  }

  class func titled(_ title: String, in context: NSManagedObjectContext) throws -> Category {
    let request = NSFetchRequest<Category>(entityName: "Category")
    request.predicate = NSPredicate(format: "%K ==[cd] %@", "title", title)
    request.fetchLimit = 1
    if let category = try context.fetch(request).first { return category }
    let category = Category(context: context)
    category.title = title
    let all = NSFetchRequest<Category>(entityName: "Category")
    category.position = Int16(try context.count(for: all))
    return category
  }
}
