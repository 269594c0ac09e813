import Foundation
import Quire
import Testing

enum Technique: String, CaseIterable, ManagedAttribute { case painting, print, sculpture }

enum Grade: Int16, ManagedAttribute {
  case low = 1
  case high = 2
  static let empty = Grade.low
}

@Suite struct EnumerationTests {
  final class Work: ManagedObject {
    @Managed var technique: Technique
    @Managed var former: Technique?
    @Managed var grade: Grade
  }

  private static let model = try! ManagedObjectModel {
    Entity("Work") {
      Attribute("technique", .string)
      Attribute("former", .string)
      Attribute("grade", .integer16, default: 2)
    }
  }

  private func works(_ techniques: [Technique]) throws -> (ManagedObjectContext, [Work]) {
    let context = try ManagedObjectContext.stubbed(Self.model, classes: [Work.self])
    let works = try techniques.map { technique in
      let work = try #require(try context.insert("Work") as? Work)
      work.technique = technique
      return work
    }
    try context.save()
    return (context, works)
  }

  @Test func `an enumeration is stored as its raw value, and nil as nil`() throws {
    let (context, works) = try works([.print])
    #expect(try works[0].value(forKey: "technique") as? String == "print")
    #expect(works[0].grade == .high && works[0].former == nil)
    works[0].former = .sculpture
    works[0].grade = .low
    try context.save()
    let sibling = SmallGallery.sibling(of: context)
    let work = try #require(try sibling.all(Work.self).first)
    #expect(work.technique == .print && work.former == .sculpture && work.grade == .low)
    try work.setValue(Technique.painting, forKey: "former")
    #expect(work.former == .painting)
    work.former = nil
    #expect(try work.value(forKey: "former") == nil)
  }

  @Test func `a property without a value is the empty case`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model, classes: [Work.self])
    let work = try #require(try context.insert("Work") as? Work)
    #expect(work.technique == .painting)
  }

  @Test func `a predicate compares with cases`() throws {
    let (context, works) = try works([.print, .sculpture, .print])
    works[1].former = .print
    try context.save()
    func count(_ predicate: FetchPredicate) throws -> Int {
      var request = FetchRequest<Work>()
      request.predicate = predicate
      return try context.fetch(request).count
    }
    #expect(try count(Key("technique") == Technique.print) == 2)
    #expect(try count(Key("technique") != Technique.print) == 1)
    #expect(try count(Key("technique").in([Technique.sculpture, .painting])) == 1)
    #expect(try count(Key("former") == Technique?.none) == 2)
    #expect(try count(FetchPredicate(format: "technique == %@", Technique.sculpture)) == 1)
    #expect(try count(Key("grade") >= Grade.high) == 3)
  }

  @Test func `a raw value that is no case is an error that names object and value`() throws {
    let (context, works) = try works([.print])
    try works[0].setValue("collage", forKey: "technique")
    try works[0].setValue("collage", forKey: "former")
    try context.save()
    let sibling = SmallGallery.sibling(of: context)
    let work = try #require(try sibling.all(Work.self).first)
    #expect(work.former == nil)
    let error = #expect(throws: PersistenceError.self) { try sibling.save() }
    #expect(error?.message.contains("\"collage\"") == true && error?.key == "former")
    #expect(error?.objectID == work.objectID)
  }

  @Test func `an enumeration on an attribute of another type is found with the classes`() throws {
    final class Work: ManagedObject { @Managed var grade: Technique }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Self.model, classes: [Work.self])
    let error = #expect(throws: PersistenceError.self) { try coordinator.checkClasses() }
    #expect("\(try #require(error))".contains("Work.grade is declared as Technique"))
  }
}
