import Foundation
import QuireCoreData
import Testing

/// The app of `docs/porting.md`, ported by changing the lines that a machine can change, does with
/// Core Data's names what it did with Core Data.
@Suite(.serialized) @MainActor struct TripsAppTests {
  private let stack = CoreDataStack(inMemory: true)

  private func list() -> TripsViewController {
    let list = TripsViewController()
    list.stack = stack
    list.viewDidLoad()
    list.tableView.reloadData()
    return list
  }

  private func date(_ text: String) throws -> Date {
    try Date(text + "T12:00:00Z", strategy: .iso8601)
  }

  private func titles(_ list: TripsViewController) -> [String] {
    (0..<list.numberOfSections(in: list.tableView)).flatMap { section in
      let title = list.tableView(list.tableView, titleForHeaderInSection: section) ?? ""
      return (0..<list.tableView(list.tableView, numberOfRowsInSection: section)).map { row in
        let cell = list.tableView(
          list.tableView, cellForRowAt: IndexPath(row: row, section: section))
        return
          "\(title) \(cell.textLabel?.text ?? "") \(cell.detailTextLabel?.text ?? "")"
      }
    }
  }

  private func add(_ name: String, _ start: String, places: [String] = []) throws {
    let editor = TripEditor(stack: stack, trip: nil)
    editor.trip.name = name
    editor.trip.startDate = try date(start)
    for place in places { editor.addPlace(named: place, latitude: 0, longitude: 0) }
    try editor.save()
  }

  @Test func `a list follows what an editor saves and what is swiped away`() throws {
    let list = list()
    try add("Lisbon", "2024-05-01", places: ["Alfama", "Belém"])
    try add("Oslo", "2025-02-01")
    try add("Athens", "2024-09-01")
    #expect(
      titles(list) == ["2025 Oslo 0 places", "2024 Athens 0 places", "2024 Lisbon 2 places"])
    list.toggleFavorite(at: IndexPath(row: 0, section: 1))
    list.tableView(list.tableView, commit: .delete, forRowAt: IndexPath(row: 0, section: 0))
    #expect(titles(list) == ["2024 Athens 0 places", "2024 Lisbon 2 places"])
    #expect(list.tableView.contradictions == [] && list.tableView.updateCount >= 5)
    #expect(list.saveCount == 5)
    let favorites: NSFetchRequest<Trip> = Trip.fetchRequest()
    favorites.predicate = NSPredicate(format: "isFavorite == YES")
    #expect(try stack.viewContext.count(for: favorites) == 1)
  }

  @Test func `a list moves at the end of the event, before anything is saved`() async throws {
    let list = list()
    let trip = Trip(context: stack.viewContext)
    trip.name = "Rome"
    for _ in 0..<100 where titles(list).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    #expect(titles(list) == ["0 Rome 0 places"])
    #expect(stack.viewContext.hasChanges && list.saveCount == 0)
  }

  @Test func `an editor keeps its changes to itself until it saves`() throws {
    try add("Lisbon", "2024-05-01", places: ["Alfama", "Belém", "Chiado"])
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    let trip = try #require(try stack.viewContext.fetch(request).first)
    let editor = TripEditor(stack: stack, trip: trip)
    editor.movePlace(from: 2, to: 0)
    try editor.addTag(named: "sea")
    #expect(editor.trip.placeNames == "Chiado, Alfama, Belém")
    #expect(trip.placeNames == "Alfama, Belém, Chiado" && trip.tags?.count == 0)
    editor.cancel()
    #expect(editor.trip.placeNames == "Alfama, Belém, Chiado")
    editor.movePlace(from: 0, to: 2)
    try editor.save()
    #expect(trip.placeNames == "Belém, Chiado, Alfama")
  }

  @Test func `rules of the model and of the class refuse a save`() throws {
    let editor = TripEditor(stack: stack, trip: nil)
    editor.trip.startDate = try date("2024-05-02")
    editor.trip.endDate = try date("2024-05-01")
    let ends = #expect(throws: NSError.self) { try editor.save() }
    #expect(ends?.domain == "Trips" && ends?.code == 1)
    #expect(ends?.localizedDescription == "The trip ends before it starts")
    editor.trip.endDate = nil
    editor.trip.name = nil
    let error = #expect(throws: NSError.self) { try editor.save() }
    #expect(error?.code == NSValidationMissingMandatoryPropertyError)
    #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
    editor.trip.name = "Lisbon"
    try editor.save()
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    #expect(try stack.viewContext.fetch(request).map(\.year) == [2024])
  }

  @Test func `an import comes to the list, which searches and reckons`() async throws {
    let list = list()
    let text = """
      [{"name": "Kyōto", "startDate": "2023-03-01T00:00:00Z", "rating": 5,
        "places": ["Gion"], "tags": ["temples", "spring"]},
       {"name": "Porto", "startDate": "2023-06-01T00:00:00Z", "rating": 2,
        "places": [], "tags": ["Spring"]}]
      """
    let count = try await withCheckedThrowingContinuation { continuation in
      TripImporter(stack: stack).importTrips(from: Data(text.utf8)) {
        continuation.resume(with: $0)
      }
    }
    #expect(count == 2)
    for _ in 0..<100 where titles(list).count < 2 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(titles(list).count == 2)
    #expect(try list.averageRating() == 3.5)
    #expect(try stack.viewContext.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 2)
    try list.search("kyo")
    #expect(titles(list) == ["2023 Kyōto 1 places"])
    try list.search("SPR")
    #expect(titles(list).count == 2)
    try stack.deleteAllTrips()
    #expect(titles(list).isEmpty && list.tableView.contradictions == [])
  }
}
