import Quire
import QuireSimulation
import Testing

// Members were put into a relationship one by one through its property, which reads and writes all
// of them each time: 4,000 took 13 seconds. The property's own name with a dollar sign changes it
// in place.
@Suite struct ToManyPropertyTests {
  private static let model = try! ManagedObjectModel {
    Entity("Department") {
      Attribute("name", .string)
      Relationship("staff", toMany: "Employee", inverse: "department")
      Relationship("desks", toMany: "Employee", inverse: "desk", ordered: true)
      Relationship("guests", toMany: "Employee", inverse: "visits")
      Relationship("queue", toMany: "Employee", inverse: "queues", ordered: true)
      Relationship("watched", toMany: "Employee")
    }
    Entity("Employee") {
      Attribute("number", .integer32)
      Relationship("department", toOne: "Department", inverse: "staff")
      Relationship("desk", toOne: "Department", inverse: "desks")
      Relationship("visits", toMany: "Department", inverse: "guests")
      Relationship("queues", toMany: "Department", inverse: "queue")
    }
  }

  final class Department: ManagedObject {
    @Managed var name: String?
    @Managed var staff: Set<Employee>
    @Managed var desks: [Employee]
    @Managed var guests: Set<Employee>
    @Managed var queue: [Employee]
    @Managed var watched: Set<Employee>
  }

  final class Employee: ManagedObject {
    @Managed var number: Int32
    @Managed var department: Department?
    @Managed var desk: Department?
    @Managed var visits: [Department]
    @Managed var queues: Set<Department>
  }

  private func open(_ count: Int = 8) throws -> (
    context: ManagedObjectContext, departments: [Department], employees: [Employee]
  ) {
    let context = try ManagedObjectContext.stubbed(
      Self.model, classes: [Department.self, Employee.self])
    let departments = (0..<3).map { _ in Department(context: context) }
    let employees = (0..<count).map { number in
      let employee = Employee(context: context)
      employee.number = Int32(number)
      return employee
    }
    try context.save()
    return (context, departments, employees)
  }

  @Test func `members come and go on both sides, and are counted and found`() throws {
    let (context, departments, employees) = try open()
    let (one, two) = (departments[0], departments[1])
    for employee in employees { try one.$staff.insert(employee) }
    try one.$staff.insert(employees[0])
    #expect(one.$staff.count == 8 && one.staff == Set(employees) && !one.$staff.isEmpty)
    #expect(employees.allSatisfy { $0.department === one })
    try two.$staff.formUnion(employees[..<2])
    #expect(one.$staff.count == 6 && two.$staff.count == 2)
    #expect(!one.$staff.contains(employees[0]) && two.$staff.contains(employees[0]))
    try one.$staff.remove(employees[7])
    try one.$staff.remove(employees[7])
    #expect(employees[7].department == nil && one.$staff.count == 5)
    try context.save()
    #expect(one.$staff.count == 5 && one.$staff.contains(employees[6]))
    try one.$staff.subtract([employees[6], employees[5]])
    context.delete(employees[4])
    context.processPendingChanges()
    #expect(one.$staff.count == 2 && one.staff.count == 2)
    try one.$staff.removeAll()
    #expect(one.$staff.isEmpty && employees[3].department == nil)
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `an order is changed in place, and its places are checked`() throws {
    let (context, departments, employees) = try open()
    let one = departments[0]
    try one.$desks.append(contentsOf: employees[..<3])
    try one.$desks.insert(employees[3], at: 0)
    #expect(one.desks == [3, 0, 1, 2].map { employees[$0] })
    try one.$desks.move(from: 0, to: 2)
    #expect(one.desks == [0, 1, 3, 2].map { employees[$0] })
    try one.$desks.remove(at: 1)
    #expect(one.desks == [0, 3, 2].map { employees[$0] } && employees[1].desk == nil)
    #expect(one.$desks.firstIndex(of: employees[2]) == 2)
    #expect(one.$desks.firstIndex(of: employees[1]) == nil)
    #expect(try one.$desks.member(at: 1) === employees[3])
    try context.save()
    #expect(one.$desks.count == 3 && one.$desks.contains(employees[3]))
    for index in [-1, 3] {
      let error = #expect(throws: PersistenceError.self) { try one.$desks.member(at: index) }
      #expect(error?.code == .unacceptableValue)
      #expect(throws: PersistenceError.self) { try one.$desks.remove(at: index) }
      #expect(throws: PersistenceError.self) { try one.$desks.move(from: index, to: 0) }
      if index < 0 {
        #expect(throws: PersistenceError.self) { try one.$desks.insert(employees[5], at: index) }
      }
    }
    // An array may be the property of a set: it has no places.
    try employees[0].$visits.append(one)
    #expect(one.guests == [employees[0]])
    let error = #expect(throws: PersistenceError.self) {
      try employees[0].$visits.insert(departments[1], at: 0)
    }
    #expect(error?.code == .unacceptableValue && error?.key == "visits")
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a mistake is thrown where it is made`() throws {
    let (first, departments, employees) = try open()
    let (second, _, others) = try open()
    defer { withExtendedLifetime((first, second)) {} }
    let error = #expect(throws: PersistenceError.self) {
      try departments[0].$staff.insert(others[0])
    }
    #expect(error?.code == .managedObjectExternalRelationship)
    #expect(departments[0].$staff.isEmpty && employees[0].department == nil)
    final class Misnamed: ManagedObject {
      override class var modelEntityName: String { "Department" }
      @Managed var people: Set<Employee>
      @Managed var name: [Employee]
    }
    // Without a store nothing refuses the class, and then the property does.
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model, classes: [Misnamed.self, Employee.self])
    let (misnamed, employee) = (Misnamed(context: context), Employee(context: context))
    #expect(throws: PersistenceError.self) { try misnamed.$people.insert(employee) }
    #expect(throws: PersistenceError.self) { try misnamed.$name.append(employee) }
    #expect(misnamed.$people.count == 0 && !misnamed.$people.contains(employee))
    #expect(misnamed.$name.count == 0 && misnamed.$name.firstIndex(of: employee) == nil)
    #expect(throws: PersistenceError.self) { try context.save() }
  }

  @Test func `changes are undone, dropped and told as those of the whole property`() throws {
    let (context, departments, employees) = try open()
    let one = departments[0]
    try one.$staff.formUnion(employees[..<4])
    try context.save()
    context.undoManager = UndoManager()
    try one.$staff.insert(employees[4])
    try one.$staff.remove(employees[0])
    context.processPendingChanges()
    #expect(one.isUpdated && employees[0].isUpdated && employees[4].isUpdated)
    #expect(one.changedValues().keys.sorted() == ["staff"])
    context.undo()
    #expect(one.staff == Set(employees[..<4]) && employees[0].department === one)
    context.redo()
    #expect(one.staff == Set(employees[1...4]) && employees[0].department == nil)
    context.rollback()
    #expect(one.staff == Set(employees[..<4]) && one.$staff.count == 4)
  }

  @Test(arguments: 1...Amount.of(debug: 2, release: 6, exhaustive: 60) as ClosedRange<UInt64>)
  func `in place or by the whole property, the outcome is the same`(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (context, departments, employees) = try open(40)
    if generator.below(2) == 0 { context.undoManager = UndoManager() }
    for _ in 0..<Amount.of(debug: 60, release: 150, exhaustive: 400) {
      let department = departments[generator.below(3)]
      let employee = employees[generator.below(40)]
      let isInPlace = generator.below(2) == 0
      guard employee.managedObjectContext != nil, !employee.isDeleted else { continue }
      switch generator.below(10) {
      case 0..<3:
        var (staff, guests) = (department.staff, department.guests)
        staff.insert(employee)
        guests.insert(employee)
        if isInPlace {
          try department.$staff.insert(employee)
          try department.$guests.insert(employee)
        } else {
          department.staff.insert(employee)
          department.guests.insert(employee)
        }
        #expect(department.staff == staff && department.guests == guests)
        #expect(employee.department === department && employee.visits.contains(department))
      case 3..<5:
        var (staff, queue) = (department.staff, department.queue)
        staff.remove(employee)
        queue.removeAll { $0 === employee }
        if isInPlace {
          try department.$staff.remove(employee)
          try department.$queue.remove(employee)
        } else {
          department.staff.remove(employee)
          department.queue.removeAll { $0 === employee }
        }
        #expect(department.staff == staff && department.queue == queue)
        #expect(employee.department !== department && !employee.queues.contains(department))
      case 5:
        if department.queue.contains(employee) { continue }
        let queue = department.queue + [employee]
        if isInPlace { try department.$queue.append(employee) } else { department.queue = queue }
        #expect(department.queue == queue && employee.queues.contains(department))
      case 6:
        department.staff = Set(
          employees.filter { !$0.isDeleted && $0.managedObjectContext != nil }
            .shuffled(using: &generator).prefix(generator.below(30)))
        try department.$watched.insert(employee)
      case 7 where generator.below(6) == 0: context.delete(employee)
      case 8 where context.undoManager?.canUndo == true: context.undo()
      default: if generator.below(3) == 0 { try context.save() }
      }
      for department in departments {
        #expect(department.$staff.count == department.staff.count)
        #expect(department.$queue.count == department.queue.count)
        #expect(department.$watched.count == department.watched.count)
        for employee in employees where employee.managedObjectContext != nil {
          #expect(department.$staff.contains(employee) == department.staff.contains(employee))
          #expect(department.$queue.contains(employee) == department.queue.contains(employee))
        }
      }
    }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `putting many in one by one takes time in proportion`() throws {
    func best(_ count: Int) throws -> Duration {
      try (0..<2).map { _ in
        let (context, departments, employees) = try open(count)
        defer { withExtendedLifetime(context) {} }
        let time = try processorTime {
          for employee in employees { try departments[0].$staff.insert(employee) }
        }
        #expect(departments[0].$staff.count == count)
        return time
      }.min()!
    }
    let (fewCount, manyCount) = Amount.of(debug: (250, 4_000), release: (500, 8_000))
    let (few, many) = (try best(fewCount), try best(manyCount))
    // A quadratic way would take 256 times as long.
    #expect(many < few * 64, "\(few) for \(fewCount), \(many) for \(manyCount)")
  }
}
