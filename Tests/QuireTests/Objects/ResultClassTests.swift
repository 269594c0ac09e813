import Quire
import QuireTesting
import Testing

/// In release builds a fetch returned objects of a class that was not registered as the class that
/// was asked for: the check was a cast that the optimiser found always true. A property that was
/// read then crashed. Each way to objects of a class is tried here; `.ci/run` runs it in release.
@Suite struct ResultClassTests {
  final class Dept: ManagedObject {
    @Managed var title: String?
    @Managed var staff: Set<Emp>
  }
  class Emp: ManagedObject {
    @Managed var name: String?
    @Managed var dept: Dept?
  }
  final class Boss: Emp {}

  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel {
      Entity("Dept") {
        Attribute("title", .string)
        Relationship("staff", toMany: "Emp", inverse: "dept")
      }
      Entity("Emp") {
        Attribute("name", .string)
        Relationship("dept", toOne: "Dept", inverse: "staff")
        FetchIndex("byName", on: "name")
      }
      Entity("Boss", parent: "Emp")
    }
  }

  /// A context that knows some of the classes, on a store with a department, its boss and somebody
  /// who works there.
  private func context(_ classes: [ManagedObject.Type]) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: classes)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    func insert(_ entity: String, _ key: String, _ value: String) throws -> ManagedObject {
      let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
      try object.setValue(value, forKey: key)
      return object
    }
    let dept = try insert("Dept", "title", "Works")
    for (entity, name) in [("Emp", "Ada"), ("Boss", "Bo")] {
      try insert(entity, "name", name).setValue(dept, forKey: "dept")
    }
    try context.save()
    context.reset()
    return context
  }

  private func requests<Result: ManagedObject>(
    for _: Result.Type, entity: String, key: String, value: String
  ) -> [FetchRequest<Result>] {
    let plain = FetchRequest<Result>(entityName: entity)
    var (sorted, exact, limited, refreshed) = (plain, plain, plain, plain)
    sorted.sortDescriptors = [FetchSortDescriptor(key: key)]
    exact.predicate = Key(key) == value
    limited.fetchLimit = 1
    refreshed.shouldRefreshRefetchedObjects = true
    return [plain, sorted, exact, limited, refreshed]
  }

  /// Tries every way that a request has.
  private func expectRefused<Result: ManagedObject>(
    _: Result.Type, entity: String, value: String = "Ada", key: String = "name",
    in context: ManagedObjectContext, _ location: SourceLocation = #_sourceLocation
  ) throws {
    func refuses(_ body: () throws -> Void) {
      let error = #expect(throws: PersistenceError.self, sourceLocation: location, performing: body)
      #expect(error?.code == .unacceptableValue, sourceLocation: location)
      #expect(
        error.map { "\($0)".contains("\(Result.self)") } ?? false, "\(String(describing: error))",
        sourceLocation: location)
    }
    let child = ManagedObjectContext(parent: context)
    for request in requests(for: Result.self, entity: entity, key: key, value: value) {
      for asked in [context, child] {
        asked.reset()
        refuses { _ = try asked.fetch(request) }
        // Again, with the objects there.
        refuses { _ = try asked.fetch(request) }
        asked.reset()
        refuses { _ = try asked.fetchBatched(request) }
      }
    }
    context.reset()
    var sorted = FetchRequest<Result>(entityName: entity)
    sorted.sortDescriptors = [FetchSortDescriptor(key: key)]
    refuses {
      let controller = FetchedResultsController(
        fetchRequest: sorted, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      try controller.performFetch()
    }
    refuses {
      let controller = FetchedResultsController(
        fetchRequest: sorted, managedObjectContext: context, sectionNameKeyPath: key,
        cacheName: nil)
      try controller.performFetch()
    }
  }

  @Test func `objects of a class that is not registered are refused`() throws {
    try expectRefused(Emp.self, entity: "Emp", in: context([]))
  }

  @Test func `objects of a subclass that was forgotten are refused`() throws {
    // What is made for bosses is then an `Emp`, as the parent entity's class is.
    try expectRefused(Boss.self, entity: "Boss", value: "Bo", in: context([Dept.self, Emp.self]))
  }

  @Test func `a request of one class for the entity of another is refused`() throws {
    let context = try context([Dept.self, Emp.self, Boss.self])
    try expectRefused(Dept.self, entity: "Emp", in: context)
    // A limit of one may find the boss, who is one.
    for request in requests(for: Boss.self, entity: "Emp", key: "name", value: "Ada")
    where request.fetchLimit == 0 {
      #expect(throws: PersistenceError.self) { try context.fetch(request) }
    }
    try expectRefused(Emp.self, entity: "Dept", value: "Works", key: "title", in: context)
  }

  @Test func `unsaved objects of another class are refused`() throws {
    let context = try context([Dept.self, Emp.self, Boss.self])
    let emp = Emp(context: context)
    emp.name = "Cy"
    for request in requests(for: Dept.self, entity: "Emp", key: "name", value: "Cy") {
      #expect(throws: PersistenceError.self) { try context.fetch(request) }
    }
    #expect(try context.fetch(FetchRequest<Emp>()).count == 3)
  }

  /// What a property would read as a class that its destinations are not made of.
  @Test func `a property whose destinations are of another class is refused with the store`() {
    for (classes, property) in [
      ([Dept.self], "staff"), ([Emp.self, Boss.self], "dept"),
    ] as [([ManagedObject.Type], String)] {
      let error = #expect(throws: PersistenceError.self) { _ = try context(classes) }
      #expect(error?.code == .coreData)
      #expect(error.map { "\($0)".contains(property) } ?? false, "\(String(describing: error))")
    }
  }

  @Test func `objects of the class asked for, or of one below it, are returned`() throws {
    let context = try context([Dept.self, Emp.self, Boss.self])
    for request in requests(for: Emp.self, entity: "Emp", key: "name", value: "Ada")
    where request.fetchLimit == 0 {
      #expect(try context.fetch(request).contains { $0.name == "Ada" })
    }
    #expect(
      try context.fetch(FetchRequest<Emp>()).map { $0 is Boss }.sorted { !$0 && $1 } == [
        false, true,
      ])
    #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Emp")).count == 2)
    #expect(try context.fetch(FetchRequest<Boss>()).map(\.name) == ["Bo"])
  }
}
