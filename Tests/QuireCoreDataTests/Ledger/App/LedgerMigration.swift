import Foundation
import QuireCoreData

/// Turns the amounts of version 1, which are texts, into numbers.
class EntryAmountPolicy: NSEntityMigrationPolicy {
  private static let countKey = "entries"

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(mapping, with: manager)
    var userInfo = manager.userInfo ?? [:]
    userInfo[EntryAmountPolicy.countKey] = 0
    manager.userInfo = userInfo
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let text = sInstance.value(forKey: "amountText") as? String ?? ""
    let words = text.split(separator: " ")
    guard let number = words.first, words.count == 2 else {
      throw LedgerError.error(LedgerError.unbalanced, "The amount \(text) cannot be read")
    }
    let entry = NSEntityDescription.insertNewObject(
      forEntityName: mapping.destinationEntityName!, into: manager.destinationContext)
    entry.setValue(sInstance.value(forKey: "identifier"), forKey: "identifier")
    entry.setValue(sInstance.value(forKey: "date"), forKey: "date")
    entry.setValue(sInstance.value(forKey: "memo"), forKey: "memo")
    entry.setValue(NSDecimalNumber(string: String(number)), forKey: "amount")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: entry, for: mapping)
    let count = manager.userInfo?[EntryAmountPolicy.countKey] as? Int ?? 0
    manager.userInfo?[EntryAmountPolicy.countKey] = count + 1
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    let sources = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    guard let source = sources.first,
      let account = source.value(forKey: "account") as? NSManagedObject
    else { return }
    let accounts = manager.destinationInstances(
      forEntityMappingName: "AccountToAccount", sourceInstances: [account])
    dInstance.setValue(accounts.first, forKey: "account")
    let words = (source.value(forKey: "amountText") as? String)?.split(separator: " ") ?? []
    accounts.first?.setValue(words.last.map(String.init) ?? "EUR", forKey: "currency")
  }
}

/// The mapping from version 1 to version 2.
enum LedgerMigration {
  static func mapping(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> NSMappingModel {
    let accounts = NSEntityMapping()
    accounts.name = "AccountToAccount"
    accounts.mappingType = .transformEntityMappingType
    accounts.sourceEntityName = "Account"
    accounts.destinationEntityName = "Account"
    accounts.sourceEntityVersionHash = source.entityVersionHashesByName["Account"]
    accounts.destinationEntityVersionHash = destination.entityVersionHashesByName["Account"]
    accounts.attributeMappings = ["name", "opened"].map { name in
      let mapping = NSPropertyMapping()
      mapping.name = name
      mapping.valueExpression = NSExpression(format: "$source.\(name)")
      return mapping
    }

    let entries = NSEntityMapping()
    entries.name = "EntryToEntry"
    entries.mappingType = .customEntityMappingType
    entries.sourceEntityName = "Entry"
    entries.destinationEntityName = "Entry"
    entries.sourceEntityVersionHash = source.entityVersionHashesByName["Entry"]
    entries.destinationEntityVersionHash = destination.entityVersionHashesByName["Entry"]
    entries.entityMigrationPolicyClassName = NSStringFromClass(EntryAmountPolicy.self)

    let model = NSMappingModel()
    model.entityMappings = [accounts, entries]
    return model
  }
}
