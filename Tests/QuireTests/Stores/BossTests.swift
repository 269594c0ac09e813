import Quire
import XCTest

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The second seed ("Unit testing with Swift and Core Data"): a base class that gives each test a
// fresh stack in memory, and typed subclasses.

final class Boss: ManagedObject {
  @Managed var firstName: String
  @Managed var lastName: String
  @Managed var employees: Set<Employee>
}

final class Employee: ManagedObject {
  @Managed var firstName: String
  @Managed var lastName: String
  @Managed var dateHired: Date?
  @Managed var salary: Int
  @Managed var boss: Boss?
}

class StackTestCase: XCTestCase {
  static let model = try! ManagedObjectModel {
    Entity("Boss") {
      Attribute("firstName", .string)
      Attribute("lastName", .string)
      Relationship("employees", toMany: "Employee", inverse: "boss")
    }
    Entity("Employee") {
      Attribute("firstName", .string)
      Attribute("lastName", .string)
      Attribute("dateHired", .date)
      Attribute("salary", .integer16)
      Relationship("boss", toOne: "Boss", inverse: "employees")
    }
  }

  var managedObjectContext: ManagedObjectContext?

  override func setUpWithError() throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model, classes: [Boss.self, Employee.self])
    try coordinator.addPersistentStore(
      ofType: InMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = ManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    managedObjectContext = context
  }

  override func tearDown() {
    weak let context = managedObjectContext
    managedObjectContext = nil
    XCTAssertNil(context, "the context must be freed when its test is over")
  }
}

final class BossTests: StackTestCase {
  private var boss: Boss?

  override func setUpWithError() throws {
    try super.setUpWithError()
    let context = try XCTUnwrap(managedObjectContext)
    let entity = try XCTUnwrap(EntityDescription.entity(forEntityName: "Boss", in: context))
    boss = Boss(entity: entity, insertInto: context)
  }

  override func tearDown() {
    boss = nil
    super.tearDown()
  }

  func testThatWeCanCreateBoss() {
    XCTAssertNotNil(boss, "unable to create a boss")
    XCTAssertEqual(boss?.isInserted, true)
  }

  func testThatEachTestHasAFreshStack() throws {
    let context = try XCTUnwrap(managedObjectContext)
    XCTAssertEqual(try context.count(for: FetchRequest<Boss>()), 1)
    XCTAssertEqual(try context.count(for: FetchRequest<Employee>()), 0)
  }

  func testThatTypedPropertiesRoundTrip() throws {
    let context = try XCTUnwrap(managedObjectContext)
    let hired = Date(timeIntervalSinceReferenceDate: 424_242.125)
    let employee = Employee(context: context)
    employee.firstName = "Ada"
    employee.lastName = "Lovelace"
    employee.salary = 32_767
    employee.dateHired = hired
    try context.save()
    context.reset()
    let found = try XCTUnwrap(context.fetch(FetchRequest<Employee>()).first)
    XCTAssertEqual(found.firstName, "Ada")
    XCTAssertEqual(found.lastName, "Lovelace")
    XCTAssertEqual(found.salary, 32_767)
    XCTAssertEqual(found.dateHired, hired)
    XCTAssertNil(found.boss)
  }

  func testThatSettingTheBossFillsTheBossesEmployees() throws {
    let context = try XCTUnwrap(managedObjectContext)
    let boss = try XCTUnwrap(boss)
    let employee = Employee(context: context)
    employee.boss = boss
    XCTAssertEqual(boss.employees, [employee])
    let other = Boss(context: context)
    employee.boss = other
    XCTAssertEqual(boss.employees, [])
    XCTAssertEqual(other.employees, [employee])
    try context.save()
    XCTAssertEqual(other.employees, [employee])
    other.employees = []
    XCTAssertNil(employee.boss)
  }

  func testThatASalaryOutOfRangeIsAnErrorAndNotAWrap() throws {
    let context = try XCTUnwrap(managedObjectContext)
    let employee = Employee(context: context)
    XCTAssertThrowsError(try employee.setValue(70_000, forKey: "salary")) {
      XCTAssertEqual(($0 as? PersistenceError)?.code, .validationNumberTooLarge)
    }
    XCTAssertEqual(employee.salary, 0)
    employee.salary = -32_769
    XCTAssertThrowsError(try context.save()) {
      XCTAssertEqual(($0 as? PersistenceError)?.code, .validationNumberTooSmall)
    }
    XCTAssertEqual(employee.salary, -32_769, "a failed save changes nothing")
    employee.salary = -32_768
    try context.save()
  }
}
