import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// A program of some 660 lines in Core Data's style (`Ledger/Before`), with a model in code,
/// migrations, validation, batch requests and history, does its work with Core Data's names
/// (`Ledger/App`).
@Suite(.serialized) @MainActor final class LedgerTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appendingPathComponent("ledger.store") }

  init() throws {
    folder = try TemporaryFolder()
    Entry.firstOpenDay = .distantPast
  }

  private func day(_ text: String) throws -> Date {
    try Date(text + "T12:00:00Z", strategy: .iso8601)
  }

  /// A store of version 1 with two accounts and three entries.
  private func makeFirstVersion(amount: String = "12.50 EUR") throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LedgerModel.version1())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    for (name, amounts) in [("Cash", [amount, "-3.25 EUR"]), ("Dollars", ["7 USD"])] {
      let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
      account.setValue(name, forKey: "name")
      for amount in amounts {
        let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        entry.setValue(amount, forKey: "amountText")
        entry.setValue(UUID(), forKey: "identifier")
        entry.setValue(try day("2024-03-01"), forKey: "date")
        entry.setValue("note of \(amount)", forKey: "memo")
        account.mutableSetValue(forKey: "entries").add(entry)
      }
    }
    try context.save()
    try coordinator.remove(store)
  }

  private func accounts(_ context: NSManagedObjectContext) throws -> [Account] {
    let request = NSFetchRequest<Account>(entityName: "Account")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  @Test func `a store of version 1 is migrated by a policy, and then by difference`() throws {
    try makeFirstVersion()
    #expect(try LedgerStore.version(ofStoreAt: url) == 0)
    let store = try LedgerStore(url: url)
    #expect(try LedgerStore.version(ofStoreAt: url) == 2)
    let accounts = try accounts(store.viewContext)
    #expect(accounts.map(\.name) == ["Cash", "Dollars"])
    #expect(accounts.map(\.currency) == ["EUR", "USD"])
    #expect(accounts[0].balance == NSDecimalNumber(string: "9.25"))
    #expect(
      Set(accounts[0].sortedEntries.map(\.note)) == ["note of 12.50 EUR", "note of -3.25 EUR"])
    #expect(accounts[0].sortedEntries.allSatisfy { !$0.isCleared })
    try store.close()
    #expect(try LedgerStore.version(ofStoreAt: url) == 2)
  }

  @Test func `an error of the policy ends the migration, and the store is as it was`() throws {
    try makeFirstVersion(amount: "much")
    let error = #expect(throws: NSError.self) { _ = try LedgerStore(url: url) }
    #expect("\(String(describing: error))".contains("The amount much cannot be read"))
    #expect(try LedgerStore.version(ofStoreAt: url) == 0)
  }

  @Test func `a store that does not exist has no version`() throws {
    #expect(try LedgerStore.version(ofStoreAt: url) == nil)
  }

  @Test func `rules of the model in code and of the classes refuse a save, as NSError`() throws {
    let store = try LedgerStore(url: url)
    let context = store.viewContext
    let account = Account(context: context)
    account.name = String(repeating: "x", count: 41)
    let tooLong = #expect(throws: NSError.self) { try context.save() }
    #expect(tooLong?.domain == NSCocoaErrorDomain)
    #expect(tooLong?.code == NSValidationStringTooLongError)
    #expect(tooLong?.userInfo[NSValidationKeyErrorKey] as? String == "name")
    #expect(tooLong?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject == account)
    account.name = "Cash"
    let entry = Entry(context: context)
    entry.amount = 5
    entry.note = "  coffee "
    account.addToEntries(entry)
    try context.save()
    #expect(entry.note == "coffee" && account.opened != nil && entry.identifier != nil)

    Entry.firstOpenDay = .distantFuture
    entry.amount = 6
    let closed = #expect(throws: NSError.self) { try context.save() }
    #expect(closed?.domain == LedgerError.domain && closed?.code == LedgerError.closedYear)
    Entry.firstOpenDay = .distantPast
    try context.save()

    context.delete(account)
    let denied = #expect(throws: NSError.self) { try context.save() }
    #expect(denied?.code == LedgerError.unbalanced)
    context.rollback()
    #expect(account.balance == 6)
  }

  @Test func `reports compute in one request`() async throws {
    let store = try LedgerStore(url: url)
    let context = store.viewContext
    let reports = LedgerReports(context: context)
    let cash = Account(context: context)
    cash.name = "Cash"
    let spare = Account(context: context)
    spare.name = "Spare"
    for (title, amounts) in [("Food", ["1.5", "2.25"]), ("Rent", ["700"])] {
      for (index, amount) in amounts.enumerated() {
        let entry = Entry(context: context)
        entry.amount = NSDecimalNumber(string: amount)
        entry.date = try day("2024-0\(index + 1)-01")
        entry.note = "\(title) \(index + 1)"
        entry.category = try Category.titled(title, in: context)
        cash.addToEntries(entry)
      }
    }
    try context.save()
    let sums = try reports.sumsByCategory()
    #expect(sums.map(\.title) == ["Food", "Rent"])
    #expect(sums.map(\.sum) == [NSDecimalNumber(string: "3.75"), 700])
    #expect(sums.map(\.count) == [2, 1])
    let (from, to) = (try day("2024-01-01"), try day("2024-02-01"))
    func notes(_ text: String) throws -> [String?] {
      try reports.entries(from: from, to: to, matching: text).map(\.note)
    }
    #expect(try notes("") == ["Food 1", "Rent 1"])
    #expect(try notes("RÉNT") == ["Rent 1"])
    let first = try #require(cash.sortedEntries.first)
    #expect(try reports.entry(try #require(first.identifier)) === first)
    #expect(try reports.emptyAccountIDs() == [spare.objectID])
    let many = try reports.categories { ($0.entries?.count ?? 0) > 1 }
    #expect(many.map(\.title) == ["Food"])
    let count = await withCheckedContinuation { continuation in
      do {
        try reports.countLater { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(returning: -1)
      }
    }
    #expect(count == 3)
  }

  @Test func `batch requests change many entries, and the history has those of others`() throws {
    let store = try LedgerStore(url: url)
    let sync = LedgerSync(store: store)
    let rows = try (1...5).map { ("\($0).5", try day("2024-01-0\($0)"), "row \($0)") }
    #expect(try sync.importEntries(rows) == 5)
    #expect(try sync.entitiesChangedByOthers() == ["Entry"])
    #expect(try sync.entitiesChangedByOthers() == [])
    #expect(sync.lastToken != nil)
    let request = NSFetchRequest<Entry>(entityName: "Entry")
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
    let entries = try store.viewContext.fetch(request)
    #expect(entries.first?.amount == NSDecimalNumber(string: "1.5"))
    #expect(try sync.clearEntries(before: try day("2024-01-03")) == 2)
    #expect(entries.map(\.isCleared) == [true, true, false, false, false])
    let cash = Account(context: store.viewContext)
    cash.name = "Cash"
    cash.addToEntries(entries[0])
    try store.viewContext.save()
    #expect(try sync.deleteStrayEntries() == 4)
    #expect(try store.viewContext.count(for: request) == 1)
    try sync.purgeHistory()
  }

  @Test func `a booking in the background comes to the context of the main queue`() async throws {
    let store = try LedgerStore(url: url)
    let cash = Account(context: store.viewContext)
    cash.name = "Cash"
    try store.viewContext.save()
    let sync = LedgerSync(store: store)
    let cashID = cash.objectID
    let id = try await withCheckedThrowingContinuation { continuation in
      sync.book(12, in: cashID, category: "Food") { continuation.resume(with: $0) }
    }
    for _ in 0..<100 where cash.balance != 12 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(cash.balance == 12)
    let entry = store.viewContext.object(with: id) as? Entry
    #expect(entry?.category?.title == "Food" && entry?.account === cash)
    #expect(store.changedTitles == ["Food"])
  }
}
