import Foundation
import Quire

class TripEditor {
  private let stack: CoreDataStack
  private let context: ManagedObjectContext
  let trip: Trip

  init(stack: CoreDataStack, trip: Trip?) {
    self.stack = stack
    context = ManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.parent = stack.viewContext
    if let trip = trip {
      self.trip = context.object(with: trip.objectID) as! Trip
    } else {
      self.trip = Trip(context: context)
    }
  }

  func addPlace(named name: String, latitude: Double, longitude: Double) throws {
    let place = Place(context: context)
    place.name = name
    place.latitude = latitude
    place.longitude = longitude
    try trip.$places.append(place)
  }

  func addTag(named name: String) throws {
    try trip.$tags.insert(try Tag.named(name, in: context))
  }

  func movePlace(from source: Int, to destination: Int) throws {
    let places = try trip.mutableOrderedSetValue(forKey: "places")
    try places.moveObjects(at: IndexSet(integer: source), to: destination)
  }

  func save() throws {
    guard context.hasChanges else { return }
    do {
      try context.save()
      stack.saveContext()
    } catch let error as PersistenceError where error.code == .validationMissingMandatoryProperty {
      let key = error.key ?? "something"
      print("\(key) is missing")
      throw error
    }
  }

  func cancel() {
    context.rollback()
  }
}
