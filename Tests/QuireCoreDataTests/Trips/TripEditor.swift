import Foundation
import QuireCoreData

class TripEditor {
  private let stack: CoreDataStack
  private let context: NSManagedObjectContext
  let trip: Trip

  init(stack: CoreDataStack, trip: Trip?) {
    self.stack = stack
    context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.parent = stack.viewContext
    if let trip = trip {
      self.trip = context.object(with: trip.objectID) as! Trip
    } else {
      self.trip = Trip(context: context)
    }
  }

  func addPlace(named name: String, latitude: Double, longitude: Double) {
    let place = Place(context: context)
    place.name = name
    place.latitude = latitude
    place.longitude = longitude
    trip.addToPlaces(place)
  }

  func addTag(named name: String) throws {
    trip.addToTags(try Tag.named(name, in: context))
  }

  func movePlace(from source: Int, to destination: Int) {
    let places = trip.mutableOrderedSetValue(forKey: "places")
    places.moveObjects(at: IndexSet(integer: source), to: destination)
  }

  func save() throws {
    guard context.hasChanges else { return }
    do {
      try context.save()
      stack.saveContext()
    } catch let error as NSError where error.code == NSValidationMissingMandatoryPropertyError {
      let key = error.userInfo[NSValidationKeyErrorKey] as? String ?? "something"
      print("\(key) is missing")
      throw error
    }
  }

  func cancel() {
    context.rollback()
  }
}
