import Quire
import Testing

/// An object that runs a program's code when its row comes.
private final class Page: ManagedObject {
  @Managed var number: Int
  @Managed var note: String
  nonisolated(unsafe) static var hook: ((Page) -> Void)?

  override func awakeFromFetch() { Page.hook?(self) }
}

/// Another class of the same entity, with its properties elsewhere.
private final class PageOfAnotherProgram: ManagedObject {
  override class var modelEntityName: String { "Page" }
  var own = 0
  @Managed var note: String
  @Managed var number: Int
}

/// Sets a property before anybody else has the object.
private final class HastyPage: ManagedObject {
  override class var modelEntityName: String { "Page" }
  @Managed var number: Int
  @Managed var note: String

  required init(_ origin: Origin) {
    super.init(origin)
    note = "set by the class"
  }
}

private let model = try! ManagedObjectModel {
  Entity("Page") {
    Attribute("number", .integer64, optional: false, default: 0)
    Attribute("note", .string, optional: false, default: "")
  }
}

private func coordinator(
  _ type: ManagedObject.Type = Page.self, _ model: ManagedObjectModel = model
) throws -> PersistentStoreCoordinator {
  let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [type])
  try coordinator.addPersistentStore(type: .inMemory, at: nil)
  return coordinator
}

private func fill(_ coordinator: PersistentStoreCoordinator, _ count: Int) throws {
  let context = GotchaHome.context(of: coordinator)
  for number in 1...count { Page(context: context).number = number }
  try context.save()
}

/// What objects do while the fetch that makes them is still looking at rows.
@Suite(.serialized) struct FetchHookTests {
  @Test func `an object that fetches while it is fetched disturbs no one`() throws {
    let coordinator = try coordinator()
    try fill(coordinator, 500)
    let context = GotchaHome.context(of: coordinator)
    var found: [Int] = []
    Page.hook = { page in
      guard page.number % 100 == 0 else { return }
      found.append((try? context.fetch(FetchRequest<Page>()).count) ?? -1)
    }
    defer { Page.hook = nil }
    let pages = try context.fetch(FetchRequest<Page>())
    #expect(pages.map(\.number) == Array(1...500))
    // What a fetch in between has made is gone when nobody holds it, and is made again.
    #expect(found.count >= 5 && found.allSatisfy { $0 == 500 })
    #expect(Set(pages.map { ObjectIdentifier($0) }).count == 500)
  }

  @Test func `a fetch returns what was there when it began, whatever its objects do`() throws {
    let coordinator = try coordinator()
    try fill(coordinator, 300)
    let context = GotchaHome.context(of: coordinator)
    Page.hook = { page in
      guard page.number == 10 else { return }
      Page(context: context).number = 301
      do {
        for other in try context.fetch(FetchRequest<Page>()) where other.number == 200 {
          context.delete(other)
        }
      } catch {
        Issue.record(error)
      }
    }
    let pages = try context.fetch(FetchRequest<Page>())
    Page.hook = nil
    try context.save()
    #expect(pages.count == 300)
    #expect(pages.filter { $0.managedObjectContext == nil }.count <= 1)
    #expect(
      try context.fetch(FetchRequest<Page>()).map(\.number) == (1...301).filter { $0 != 200 })
  }

  @Test func `offset and limit pass over rows, and make no objects of them`() throws {
    let coordinator = try coordinator()
    try fill(coordinator, 100)
    let context = GotchaHome.context(of: coordinator)
    var made = 0
    Page.hook = { _ in made += 1 }
    defer { Page.hook = nil }
    for (offset, limit) in [(0, 7), (95, 0), (95, 10), (40, 5), (100, 1), (1_000, 0)] {
      made = 0
      var request = FetchRequest<Page>()
      request.fetchOffset = offset
      request.fetchLimit = limit
      let pages = try context.fetch(request)
      let all = Array((1...100).dropFirst(offset))
      #expect(pages.map(\.number) == (limit == 0 ? all : Array(all.prefix(limit))))
      #expect(made == pages.count)
    }
  }
}

// Here, so that none of its objects meets the other tests' hook on another thread.
extension FetchHookTests {
  /// What stacks of one model have in common, and what they have not.
  @Suite struct SharedModelTests {
    @Test func `two programs' classes of one entity keep their own slots`() throws {
      let (mine, others) = (try coordinator(), try coordinator(PageOfAnotherProgram.self))
      for round in 0..<3 {
        let page = Page(context: GotchaHome.context(of: mine))
        (page.number, page.note) = (round, "mine")
        let context = GotchaHome.context(of: others)
        let other = PageOfAnotherProgram(context: context)
        (other.number, other.note, other.own) = (10 + round, "another's", round)
        #expect(page.number == round && page.note == "mine")
        try context.save()
        let fetched = try context.fetch(FetchRequest<PageOfAnotherProgram>())
        #expect(fetched.map(\.number).sorted() == Array(10...10 + round))
        #expect(fetched.allSatisfy { $0.note == "another's" })
      }
      #expect(try GotchaHome.context(of: mine).fetch(FetchRequest<Page>()).isEmpty)
    }

    @Test func `a model goes with its last stack`() throws {
      weak var leftModel: ManagedObjectModel?
      weak var leftCoordinator: PersistentStoreCoordinator?
      try {
        let model = try ManagedObjectModel {
          Entity("Page") {
            Attribute("number", .integer64, optional: false, default: 0)
            Attribute("note", .string, optional: false, default: "")
            FetchIndexDescription("byNumber", on: "number")
          }
        }
        for _ in 0..<2 {
          let coordinator = try coordinator(Page.self, model)
          let context = GotchaHome.context(of: coordinator)
          Page(context: context).number = 1
          try context.save()
          leftCoordinator = coordinator
        }
        leftModel = model
        #expect(leftModel != nil)
      }()
      #expect(leftModel == nil && leftCoordinator == nil)
    }

    @Test func `a value set in the init of a fetched object is no change`() throws {
      let coordinator = try coordinator(HastyPage.self)
      let writer = GotchaHome.context(of: coordinator)
      let page = HastyPage(context: writer)
      page.number = 7
      page.note = "saved"
      try writer.save()
      let reader = GotchaHome.context(of: coordinator)
      let fetched = try #require(try reader.fetch(FetchRequest<HastyPage>()).first)
      #expect(fetched.number == 7)
      #expect(fetched.note == "set by the class")
      #expect(!fetched.hasChanges && !reader.hasChanges)
      let fault = try #require(
        GotchaHome.context(of: coordinator).object(with: page.objectID) as? HastyPage)
      #expect(!fault.hasChanges)
      fetched.number = 8
      #expect(fetched.hasChanges)
      try reader.save()
      #expect(fetched.number == 8)
    }

    @Test func `a new store is read by what its file says, and not by what its maker knew`() throws
    {
      try withTemporaryFolder { folder in
        for number in 0..<3 {
          let url = folder.appending(path: "\(number).quire")
          for isNew in [true, false] {
            let coordinator = PersistentStoreCoordinator(
              managedObjectModel: model, classes: [Page.self])
            let store = try coordinator.addPersistentStore(type: .quire, at: url)
            let context = GotchaHome.context(of: coordinator)
            if isNew {
              Page(context: context).number = number
              try context.save()
            }
            let page = try #require(try context.fetch(FetchRequest<Page>()).first)
            #expect(page.number == number)
            #expect(page.objectID.uriRepresentation().lastPathComponent == "p1")
            try coordinator.remove(store)
          }
          #expect(try StoreInspection(of: url).findings == [])
        }
      }
    }
  }
}
