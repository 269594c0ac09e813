import Foundation
import QuireCoreData

struct TripRecord: Decodable {
  var name: String
  var startDate: Date
  var rating: Int16
  var places: [String]
  var tags: [String]
}

class TripImporter {
  private let stack: CoreDataStack

  init(stack: CoreDataStack) {
    self.stack = stack
  }

  func importTrips(from data: Data, completion: @escaping (Result<Int, Error>) -> Void) {
    stack.persistentContainer.performBackgroundTask { context in
      context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      let result = Result<Int, Error> {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let records = try decoder.decode([TripRecord].self, from: data)
        for record in records {
          let trip = Trip(context: context)
          trip.name = record.name
          trip.startDate = record.startDate
          trip.rating = record.rating
          for name in record.places {
            let place = Place(context: context)
            place.name = name
            place.trip = trip
          }
          for name in record.tags {
            trip.addToTags(try Tag.named(name, in: context))
          }
        }
        try context.save()
        return records.count
      }
      DispatchQueue.main.async { completion(result) }
    }
  }
}
