import Foundation
import QuireCoreData

/// Figures of all sightings, computed by the store.
struct Statistics {
  struct Row: Equatable {
    var name: String
    var sightings: Int
    var birds: Int
  }

  let context: NSManagedObjectContext

  /// Sightings and birds of each species, those that were seen most first.
  func bySpecies(limit: Int = 10) throws -> [Row] {
    let countDescription = NSExpressionDescription()
    countDescription.name = "sightings"
    countDescription.expression = NSExpression(
      forFunction: "count:", arguments: [NSExpression(forKeyPath: "identifier")])
    countDescription.expressionResultType = .integer64AttributeType

    let sumDescription = NSExpressionDescription()
    sumDescription.name = "birds"
    sumDescription.expression = NSExpression(format: "sum:(count)")
    sumDescription.expressionResultType = .integer64AttributeType

    let request = NSFetchRequest<NSDictionary>(entityName: Sighting.entityName)
    request.resultType = .dictionaryResultType
    request.predicate = Sighting.defaultPredicate
    request.propertiesToGroupBy = ["species.commonName"]
    request.propertiesToFetch = ["species.commonName", countDescription, sumDescription]
    let rows = try context.fetch(request).map { dictionary in
      Row(
        name: dictionary["species.commonName"] as! String,
        sightings: dictionary["sightings"] as! Int, birds: dictionary["birds"] as! Int)
    }
    return Array(
      rows.sorted { ($1.birds, $0.name) < ($0.birds, $1.name) }.prefix(limit))
  }

  func unreadCount() -> Int {
    return Sighting.count(in: context) { $0.predicate = Sighting.unreadPredicate(since: nil) }
  }

  func birdsTotal() throws -> Int {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Sighting")
    request.resultType = .dictionaryResultType
    let description = NSExpressionDescription()
    description.name = "total"
    description.expression = NSExpression(
      forFunction: "sum:", arguments: [NSExpression(forKeyPath: "count")])
    description.expressionResultType = .integer32AttributeType
    request.propertiesToFetch = [description]
    guard let result = try context.fetch(request) as? [[String: Any]] else { return 0 }
    return result.first?["total"] as? Int ?? 0
  }

  func favorites() throws -> [Species] {
    let model = context.persistentStoreCoordinator!.managedObjectModel
    let template = model.fetchRequestTemplate(forName: "FavoriteSpecies")!
    let request = NSFetchRequest<Species>(template)
    request.sortDescriptors = Species.defaultSortDescriptors
    return try context.fetch(request)
  }

  func sightings(ofSpecies code: String) throws -> [Sighting] {
    let model = context.persistentStoreCoordinator!.managedObjectModel
    guard
      let request = model.fetchRequestFromTemplate(
        withName: "SightingsOfSpecies", substitutionVariables: ["CODE": code]
      ).map({ NSFetchRequest<Sighting>($0) })
    else { return [] }
    return try context.fetch(request)
  }

  /// Places with many birds, by a key path with a collection operator in memory.
  func bestPlaces(minimum: Int) throws -> [String] {
    let request: NSFetchRequest<Place> = Place.fetchRequest()
    request.predicate = NSPredicate(
      format: "SUBQUERY(sightings, $s, $s.count >= %d).@count > 0", minimum)
    request.sortDescriptors = Place.defaultSortDescriptors
    return try context.fetch(request).map { place in
      let most = place.value(forKeyPath: "sightings.@max.count") as? Int ?? 0
      return "\(place.name ?? "?"): \(most)"
    }
  }

  /// Fetched in the background, shown on the main queue.
  func loadRecent(_ completion: @escaping ([Sighting]) -> Void) throws {
    let request = Sighting.sortedFetchRequest
    request.fetchLimit = 5
    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
      completion(result.finalResult ?? [])
    }
    try context.execute(asynchronous)
  }
}
