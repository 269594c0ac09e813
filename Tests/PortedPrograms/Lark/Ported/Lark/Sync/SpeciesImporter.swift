import Foundation
import QuireCoreData

struct SpeciesRecord: Decodable {
  var code: String
  var name: String
  var scientific: String?
  var family: String?

  var dictionaryValue: [String: Any] {
    return [
      "code": code, "commonName": name, "scientificName": scientific as Any,
      "family": family as Any,
    ]
  }
}

enum ImportError: LocalizedError {
  case batchInsertError
  case batchDeleteError

  var errorDescription: String? {
    switch self {
    case .batchInsertError: return "Failed to execute a batch insert request."
    case .batchDeleteError: return "Failed to execute a batch delete request."
    }
  }
}

/// The taxonomy as a whole: some thousand species, by batches.
final class SpeciesImporter {
  private let stack: CoreDataStack
  private lazy var context: NSManagedObjectContext = stack.newImportContext()

  init(stack: CoreDataStack) {
    self.stack = stack
  }

  func importTaxonomy(from data: Data, completion: @escaping (Result<Int, Error>) -> Void) {
    context.perform {
      do {
        let records = try JSONDecoder().decode([SpeciesRecord].self, from: data)
        let count = try self.insert(records)
        completion(.success(count))
      } catch {
        completion(.failure(error))
      }
    }
  }

  private func insert(_ records: [SpeciesRecord]) throws -> Int {
    guard !records.isEmpty else { return 0 }
    let request = newBatchInsertRequest(with: records)
    request.resultType = .objectIDs
    guard let result = try context.execute(request) as? NSBatchInsertResult,
      let identifiers = result.result as? [NSManagedObjectID]
    else { throw ImportError.batchInsertError }
    merge([NSInsertedObjectsKey: identifiers])
    return identifiers.count
  }

  private func newBatchInsertRequest(with records: [SpeciesRecord]) -> NSBatchInsertRequest {
    var index = 0
    let total = records.count
    let request = NSBatchInsertRequest(
      entity: Species.entity(),
      dictionaryHandler: { dictionary in
        guard index < total else { return true }
        dictionary.addEntries(from: records[index].dictionaryValue)
        dictionary["sortOrder"] = index
        index += 1
        return false
      })
    return request
  }

  /// Marks everything as read, without making an object.
  @discardableResult
  func markAllRead(before date: Date) throws -> Int {
    var count = 0
    var failure: Error?
    context.performAndWait {
      let request = NSBatchUpdateRequest(entityName: Sighting.entityName)
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        Sighting.unreadPredicate(since: nil),
        NSPredicate(format: "%K < %@", "seenAt", date as NSDate),
      ])
      request.propertiesToUpdate = ["isRead": true]
      request.resultType = .updatedObjectIDsResultType
      do {
        let result = try context.execute(request) as? NSBatchUpdateResult
        let identifiers = result?.result as? [NSManagedObjectID] ?? []
        count = identifiers.count
        merge([NSUpdatedObjectsKey: identifiers])
      } catch { failure = error }
    }
    if let failure = failure { throw failure }
    return count
  }

  func deleteUnseenSpecies() throws -> Int {
    let fetchRequest: NSFetchRequest<NSFetchRequestResult> = Species.fetchRequest()
    fetchRequest.predicate = NSPredicate(format: "sightings.@count == 0 AND isFavorite == NO")
    let deleteRequest = NSBatchDeleteRequest(fetchRequest: fetchRequest)
    deleteRequest.resultType = .resultTypeObjectIDs
    var identifiers: [NSManagedObjectID] = []
    try context.performAndWait {
      let result = try context.execute(deleteRequest) as? NSBatchDeleteResult
      guard let deleted = result?.result as? [NSManagedObjectID] else {
        throw ImportError.batchDeleteError
      }
      identifiers = deleted
    }
    merge([NSDeletedObjectsKey: identifiers])
    return identifiers.count
  }

  private func merge(_ changes: [AnyHashable: Any]) {
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: changes, into: [stack.rootContext, stack.mainContext])
  }
}
