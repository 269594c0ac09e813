import CoreData
import Foundation

/// What the ledger says about its entries.
struct LedgerReports {
  let context: NSManagedObjectContext

  struct CategorySum {
    let title: String
    let sum: NSDecimalNumber
    let count: Int
  }

  /// The sum and the number of entries of each category, in one request.
  func sumsByCategory() throws -> [CategorySum] {
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(
      forFunction: "sum:", arguments: [NSExpression(forKeyPath: #keyPath(Entry.amount))])
    sum.expressionResultType = .decimalAttributeType

    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = NSExpression(
      forFunction: "count:", arguments: [NSExpression(forKeyPath: #keyPath(Entry.identifier))])
    count.expressionResultType = .integer64AttributeType

    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Entry")
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: "category != nil")
    request.propertiesToGroupBy = ["category.title"]
    request.propertiesToFetch = ["category.title", sum, count]
    request.sortDescriptors = [NSSortDescriptor(key: "category.title", ascending: true)]
    let rows = try context.fetch(request) as! [NSDictionary]
    return rows.map { row in
      CategorySum(
        title: row["category.title"] as? String ?? "",
        sum: row["sum"] as? NSDecimalNumber ?? NSDecimalNumber.zero,
        count: row["count"] as? Int ?? 0)
    }
  }

  /// The entries between two days that match a text, the newest first.
  func entries(from: Date, to: Date, matching text: String?) throws -> [Entry] {
    var conditions = [
      NSPredicate(format: "date >= %@ AND date < %@", from as NSDate, to as NSDate)
    ]
    if let text = text, !text.isEmpty {
      let note = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: #keyPath(Entry.note)),
        rightExpression: NSExpression(forConstantValue: text), modifier: .direct, type: .contains,
        options: [.caseInsensitive, .diacriticInsensitive])
      let category = NSPredicate(format: "category.title BEGINSWITH[cd] %@", text)
      conditions.append(NSCompoundPredicate(orPredicateWithSubpredicates: [note, category]))
    }
    let request = NSFetchRequest<Entry>(entityName: "Entry")
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
    request.sortDescriptors = [
      NSSortDescriptor(key: #keyPath(Entry.date), ascending: false),
      NSSortDescriptor(
        key: #keyPath(Entry.note), ascending: true,
        selector: #selector(NSString.localizedStandardCompare(_:))),
    ]
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = [#keyPath(Entry.category)]
    return try context.fetch(request)
  }

  /// The entry with an identifier.
  func entry(_ identifier: UUID) throws -> Entry? {
    let request = NSFetchRequest<Entry>(entityName: "Entry")
    request.predicate = NSPredicate(format: "identifier == %@", identifier as CVarArg)
    return try context.fetch(request).first
  }

  /// The IDs of accounts without entries.
  func emptyAccountIDs() throws -> [NSManagedObjectID] {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Account")
    request.resultType = .managedObjectIDResultType
    request.predicate = NSPredicate(format: "entries.@count == 0")
    return try context.fetch(request)
  }

  /// The categories in which a block finds something to look at, in memory.
  func categories(where isInteresting: @escaping (Category) -> Bool) throws -> [Category] {
    let request = NSFetchRequest<Category>(entityName: "Category")
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Category.position), ascending: true)]
    let all = try context.fetch(request) as NSArray
    let predicate = NSPredicate { object, _ in (object as? Category).map(isInteresting) ?? false }
    return all.filtered(using: predicate) as! [Category]
  }

  /// Counts entries in the background of a request, and calls back.
  func countLater(_ completion: @escaping (Int) -> Void) throws {
    let request = NSFetchRequest<Entry>(entityName: "Entry")
    let later = NSAsynchronousFetchRequest(fetchRequest: request) { result in
      completion(result.finalResult?.count ?? 0)
    }
    try context.execute(later)
  }
}
