import Foundation
import QuireModel

/// The objects of a store, one after the other.
///
/// Objects of one hierarchy come together, in the order of their keys; hierarchies in the order of
/// the names of their roots. What an object refers to may come before or after it.
public struct CoreDataObjects {
  /// The report on what has been read so far; complete when ``next()`` has returned `nil`.
  public private(set) var report: ImportReport

  private let contents: CoreDataContents
  private var remainingTables: ArraySlice<CoreDataLayout.Table>
  private var current: Reading?
  private let externalData: ExternalDataFolder
  private var repairedTextCount = 0
  private var isFinished = false

  init(of contents: CoreDataContents) {
    self.contents = contents
    report = contents.initialReport
    remainingTables = contents.layout.tables[...]
    externalData = ExternalDataFolder(ofStore: contents.store.url)
  }

  /// The next object, or `nil` after the last.
  ///
  /// - Throws: ``CoreDataStoreError``, at the end too if another program wrote to the store
  ///   meanwhile: then the objects read may be partly of one state and partly of another.
  public mutating func next() throws(CoreDataStoreError) -> CoreDataObject? {
    while !isFinished {
      if var reading = current, let row = try reading.rows.next() {
        current = reading
        return try object(row, reading)
      }
      try advance()
    }
    return nil
  }

  private mutating func advance() throws(CoreDataStoreError) {
    current = nil
    guard let layout = remainingTables.popFirst() else {
      isFinished = true
      if repairedTextCount > 0 {
        report.notes.append(
          "texts with bytes that are not text, which were replaced by “\u{FFFD}”: \(repairedTextCount)"
        )
      }
      try contents.store.checkUnchanged()
      return
    }
    guard let table = contents.store.database.table(named: layout.name) else { return }
    current = try Reading(of: layout, table: table, contents: contents)
  }

  private mutating func object(
    _ row: SQLiteRow, _ reading: Reading
  ) throws(CoreDataStoreError) -> CoreDataObject {
    let (entity, position) = try reading.rowReader.entity(of: row)
    guard let plan = reading.plans[position] else {
      preconditionFailure("every entity of a hierarchy has a plan")
    }
    var object = CoreDataObject(
      entity: entity, primaryKey: row.rowID, version: reading.rowReader.version(of: row),
      attributes: [:], toOne: [:], toMany: [:])
    for attribute in plan.attributes {
      object.attributes[attribute.description.name] = value(attribute, row, entity)
    }
    for relationship in plan.relationships {
      let targets = relationship.links[row.rowID]
      guard !targets.isEmpty else { continue }
      let references = targets.compactMap { contents.reference(to: $0, in: relationship.keys) }
      if relationship.isToMany {
        object.toMany[relationship.name] = references
      } else {
        object.toOne[relationship.name] = references.first
      }
    }
    report.objectCounts[entity.name, default: 0] += 1
    return object
  }

  /// The value of an attribute, noting in the report what cannot be read.
  private mutating func value(
    _ plan: AttributePlan, _ row: SQLiteRow, _ entity: EntityDescription
  ) -> AttributeValue? {
    let attribute = plan.description
    var value: AttributeValue?
    if attribute.type == .composite {
      var elements: [String: AttributeValue] = [:]
      for element in plan.elements {
        elements[element.description.name] = self.value(element, row, entity)
      }
      if !elements.isEmpty { value = .composite(elements) }
    } else if let column = plan.column {
      if row.hasMalformedText(in: column) { repairedTextCount += 1 }
      value = self.value(row[column], plan, row.rowID, entity)
      if value == nil, row[column] != .null { return nil }
    }
    if value == nil, !attribute.isOptional {
      report.missingRequiredValues["\(entity.name).\(plan.name)", default: 0] += 1
    }
    return value
  }

  private mutating func value(
    _ stored: SQLiteValue, _ plan: AttributePlan, _ key: Int64, _ entity: EntityDescription
  ) -> AttributeValue? {
    if stored == .null { return nil }
    var stored = stored
    if plan.description.allowsExternalBinaryDataStorage, case .blob(let data) = stored {
      switch externalData.value(data) {
      case .data(let data): stored = .blob(data)
      case .missing(let file):
        report.missingFiles.append(
          .init(entity: entity.name, key: key, attribute: plan.name, file: file))
        return nil
      case .unknown: break  // written before the attribute allowed external storage
      }
    }
    if let value = CoreDataValue.value(stored, as: plan.description.type) { return value }
    report.unreadableValues.append(
      .init(
        entity: entity.name, key: key, attribute: plan.name, found: "\(stored)",
        expected: "\(plan.description.type)"))
    return nil
  }
}

extension CoreDataObjects {
  /// The column of an attribute's value.
  private struct AttributePlan {
    var description: AttributeDescription
    /// The name, with those of the composite attributes around it.
    var name: String
    var column: Int?
    var elements: [AttributePlan] = []
  }

  private struct RelationshipPlan {
    var name: String
    var isToMany: Bool
    var links: CoreDataLinks
    var keys: CoreDataKeys
  }

  private struct ObjectPlan {
    var attributes: [AttributePlan]
    var relationships: [RelationshipPlan]
  }

  /// A table that is being read.
  private struct Reading {
    var rows: CoreDataRows
    let rowReader: CoreDataRowReader
    /// By the position of the entity among the model's.
    let plans: [Int: ObjectPlan]

    init(
      of layout: CoreDataLayout.Table, table: SQLiteTable, contents: CoreDataContents
    ) throws(CoreDataStoreError) {
      rows = try contents.store.rows(of: table)
      rowReader = try CoreDataRowReader(
        of: layout, table: table, store: contents.store, contents.entities, model: contents.model)
      var columns: [CoreDataLayout.Property: Int] = [:]
      for column in layout.columns { columns[column.property] = column.index(in: table) }
      let family = Set(layout.family.map(\.name))
      var plans: [Int: ObjectPlan] = [:]
      for (position, entity) in contents.model.entities.enumerated()
      where family.contains(entity.name) {
        plans[position] = Self.plan(for: entity, columns, contents)
      }
      self.plans = plans
    }

    private static func plan(
      for entity: EntityDescription, _ columns: [CoreDataLayout.Property: Int],
      _ contents: CoreDataContents
    ) -> ObjectPlan {
      var plan = ObjectPlan(attributes: [], relationships: [])
      for level in entity.lineage.reversed() {
        for attribute in level.declaration.attributes where !attribute.isTransient {
          plan.attributes.append(self.plan(for: attribute, of: level.name, in: [], columns))
        }
        for relationship in level.declaration.relationships {
          guard let links = contents.links[level, relationship.name], links.count > 0,
            let root = contents.model.entity(named: relationship.destination)?.root,
            let keys = contents.keys[root.name]
          else { continue }
          plan.relationships.append(
            RelationshipPlan(
              name: relationship.name, isToMany: relationship.isToMany, links: links, keys: keys))
        }
      }
      return plan
    }

    private static func plan(
      for attribute: AttributeDescription, of entity: String, in path: [String],
      _ columns: [CoreDataLayout.Property: Int]
    ) -> AttributePlan {
      let path = path + [attribute.name]
      return AttributePlan(
        description: attribute, name: path.joined(separator: "."),
        column: columns[.init(entity: entity, path: path)],
        elements: attribute.type == .composite
          ? attribute.elements.map { plan(for: $0, of: entity, in: path, columns) } : [])
    }
  }
}

extension CoreDataContents {
  /// The object with a key of one hierarchy.
  fileprivate func reference(to key: Int64, in keys: CoreDataKeys) -> CoreDataObject.Reference? {
    keys.entity(of: key).map { .init(entity: model.entities[$0].name, key: key) }
  }
}
