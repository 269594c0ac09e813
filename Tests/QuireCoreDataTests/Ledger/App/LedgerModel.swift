import Foundation
import QuireCoreData

/// The versions of the ledger's model, written in code.
enum LedgerModel {
  static let current = version3()

  static let all: [(name: String, model: NSManagedObjectModel)] = [
    ("Ledger 1", version1()), ("Ledger 2", version2()), ("Ledger 3", current),
  ]

  // MARK: - Version 1: amounts are texts such as "12.50 EUR"

  static func version1() -> NSManagedObjectModel {
    let account = entity("Account", className: "NSManagedObject")
    let entry = entity("Entry", className: "NSManagedObject")
    account.properties = [
      attribute("name", .stringAttributeType, optional: false),
      attribute("opened", .dateAttributeType),
    ]
    entry.properties = [
      attribute("identifier", .UUIDAttributeType, optional: false),
      attribute("amountText", .stringAttributeType, optional: false, defaultValue: "0 EUR"),
      attribute("date", .dateAttributeType, optional: false),
      attribute("memo", .stringAttributeType),
    ]
    connect(account, "entries", toMany: entry, "account", rule: .cascadeDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [account, entry]
    model.versionIdentifiers = ["1"]
    return model
  }

  // MARK: - Version 2: amounts are numbers

  static func version2() -> NSManagedObjectModel {
    let account = entity("Account", className: "NSManagedObject")
    let entry = entity("Entry", className: "NSManagedObject")
    account.properties = [
      attribute("name", .stringAttributeType, optional: false),
      attribute("opened", .dateAttributeType),
      attribute("currency", .stringAttributeType, optional: false, defaultValue: "EUR"),
    ]
    entry.properties = [
      attribute("identifier", .UUIDAttributeType, optional: false),
      attribute(
        "amount", .decimalAttributeType, optional: false, defaultValue: NSDecimalNumber.zero),
      attribute("date", .dateAttributeType, optional: false),
      attribute("memo", .stringAttributeType),
    ]
    connect(account, "entries", toMany: entry, "account", rule: .cascadeDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [account, entry]
    model.versionIdentifiers = ["2"]
    return model
  }

  // MARK: - Version 3: categories, and notes in place of memos

  static func version3() -> NSManagedObjectModel {
    let account = entity("Account", className: NSStringFromClass(Account.self))
    let entry = entity("Entry", className: NSStringFromClass(Entry.self))
    let category = entity("Category", className: NSStringFromClass(Category.self))

    let name = attribute("name", .stringAttributeType, optional: false)
    name.setValidationPredicates(
      [NSPredicate(format: "length >= 1"), NSPredicate(format: "length <= 40")],
      withValidationWarnings: ["too short", "too long"])
    account.properties = [
      name,
      attribute("opened", .dateAttributeType),
      attribute("currency", .stringAttributeType, optional: false, defaultValue: "EUR"),
    ]

    let note = attribute("note", .stringAttributeType)
    note.renamingIdentifier = "memo"
    let identifier = attribute("identifier", .UUIDAttributeType, optional: false)
    let date = attribute("date", .dateAttributeType, optional: false)
    let isCleared = attribute(
      "isCleared", .booleanAttributeType, optional: false, defaultValue: false)
    entry.properties = [
      identifier,
      attribute(
        "amount", .decimalAttributeType, optional: false, defaultValue: NSDecimalNumber.zero),
      date, note, isCleared,
    ]
    entry.uniquenessConstraints = [["identifier"]]
    let byDate = NSFetchIndexElementDescription(property: date, collationType: .binary)
    byDate.isAscending = false
    entry.indexes = [NSFetchIndexDescription(name: "byDate", elements: [byDate])]

    category.properties = [
      attribute("title", .stringAttributeType, optional: false),
      attribute("position", .integer16AttributeType, optional: false, defaultValue: 0),
    ]
    category.uniquenessConstraints = [["title"]]

    connect(account, "entries", toMany: entry, "account", rule: .cascadeDeleteRule)
    connect(category, "entries", toMany: entry, "category", rule: .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [account, entry, category]
    model.versionIdentifiers = ["3"]
    return model
  }

  // MARK: - Parts

  private static func entity(_ name: String, className: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = className
    return entity
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, optional: Bool = true, defaultValue: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    attribute.defaultValue = defaultValue
    return attribute
  }

  private static func connect(
    _ one: NSEntityDescription, _ manyName: String, toMany many: NSEntityDescription,
    _ oneName: String, rule: NSDeleteRule
  ) {
    let toMany = NSRelationshipDescription()
    toMany.name = manyName
    toMany.destinationEntity = many
    toMany.minCount = 0
    toMany.maxCount = 0
    toMany.deleteRule = rule
    let toOne = NSRelationshipDescription()
    toOne.name = oneName
    toOne.destinationEntity = one
    toOne.minCount = 0
    toOne.maxCount = 1
    toOne.deleteRule = .nullifyDeleteRule
    toMany.inverseRelationship = toOne
    toOne.inverseRelationship = toMany
    one.properties.append(toMany)
    many.properties.append(toOne)
  }
}
