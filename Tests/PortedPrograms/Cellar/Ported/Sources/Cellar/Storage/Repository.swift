import Foundation
public import QuireCoreData

/// A value that stands for an object outside of its context.
public protocol ObjectValue: Sendable {
  associatedtype Object: Managed
  var identifier: NSManagedObjectID? { get }
  init(_ object: Object)
  func write(to object: Object) throws
}

public struct ShelfValue: ObjectValue, Equatable, Identifiable {
  public var identifier: NSManagedObjectID?
  public var label: String
  public var slots: Int

  public var id: NSManagedObjectID? { identifier }

  public init(label: String, slots: Int) {
    self.label = label
    self.slots = slots
  }

  public init(_ object: Shelf) {
    identifier = object.objectID
    label = object.label
    slots = Int(object.slots)
  }

  public func write(to object: Shelf) throws {
    guard slots > 0 else { throw CellarError.invalid(key: "slots") }
    object.label = label
    object.slots = Int32(slots)
  }
}

/// Reads and writes values of one kind.
public actor Repository<Value: ObjectValue> {
  private let context: NSManagedObjectContext

  public init(_ cellar: Cellar) {
    context = cellar.container.newBackgroundContext()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  }

  public func save(_ value: Value) async throws -> Value {
    try await context.perform { [context] in
      let object: Value.Object
      if let identifier = value.identifier {
        object = try context.existingObject(with: identifier, as: Value.Object.self)
      } else {
        object = Value.Object(context: context)
      }
      do {
        try value.write(to: object)
        try context.save()
      } catch {
        context.rollback()
        throw error
      }
      return Value(object)
    }
  }

  public func all(matching predicate: NSPredicate? = nil) async throws -> [Value] {
    let format = predicate?.predicateFormat
    return try await context.perform { [context] in
      var query = Value.Object.query()
      if let format { query = query.where(format) }
      return try query.fetch(in: context).map { Value($0) }
    }
  }

  public func count() async throws -> Int {
    try await context.perform { [context] in
      try Value.Object.query().count(in: context)
    }
  }

  public func delete(_ value: Value) async throws {
    guard let identifier = value.identifier else { return }
    try await context.perform { [context] in
      context.delete(try context.existingObject(with: identifier, as: Value.Object.self))
      try context.save()
    }
  }
}
