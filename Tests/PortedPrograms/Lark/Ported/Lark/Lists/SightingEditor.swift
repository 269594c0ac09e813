import Foundation
import QuireCoreData

/// Edits one sighting in a child context, so that it can be cancelled.
final class SightingEditor {
  enum EditorError: Error, Equatable {
    case missing(String)
    case invalid(String)
    case other(String)
  }

  private let stack: CoreDataStack
  private let context: NSManagedObjectContext
  let sighting: Sighting
  private(set) var checklists: [Checklist] = []

  init(stack: CoreDataStack, sighting: Sighting?) {
    self.stack = stack
    context = stack.newChildContext(name: "editor")
    context.undoManager = UndoManager()
    if let sighting = sighting {
      self.sighting = try! context.existingObject(with: sighting.objectID) as! Sighting
    } else {
      self.sighting = Sighting(context: context)
    }
    context.processPendingChanges()
    context.undoManager?.removeAllActions()
    loadChecklists()
  }

  private func loadChecklists() {
    let request: NSFetchRequest<Checklist> = Checklist.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    checklists = (try? context.fetch(request)) ?? []
  }

  func choose(speciesCode: String) {
    guard let species = Species.find(code: speciesCode, in: context) else { return }
    sighting.species = species
  }

  func setPlace(named name: String, latitude: Double, longitude: Double) {
    let place = Place.findOrCreate(
      in: context, matching: NSPredicate(format: "name == %@", name)
    ) { place in
      place.name = name
      place.latitude = latitude
      place.longitude = longitude
    }
    sighting.place = place
  }

  func setRating(_ rating: Int?) throws {
    var value = rating.map { NSNumber(value: $0) } as Any?
    do {
      try sighting.validateValue(&value, forKey: "rating")
    } catch {
      throw EditorError.invalid("rating")
    }
    sighting.rating = value as? NSNumber
  }

  func addToChecklist(titled title: String) {
    let checklist =
      checklists.first { $0.title == title }
      ?? {
        let checklist = Checklist(context: context)
        checklist.title = title
        checklist.createdAt = Date()
        checklists.append(checklist)
        return checklist
      }()
    checklist.addToSightings(sighting)
  }

  func moveInChecklist(to index: Int) {
    guard let checklist = sighting.checklist, let all = checklist.sightings else { return }
    checklist.removeFromSightings(at: all.index(of: sighting))
    checklist.insertIntoSightings(sighting, at: index)
  }

  var canUndo: Bool {
    context.processPendingChanges()
    return context.undoManager?.canUndo ?? false
  }

  func undo() {
    context.undo()
  }

  func changedKeys() -> [String] {
    return sighting.changedValues().keys.sorted()
  }

  func previousCount() -> Int? {
    return sighting.committedValues(forKeys: ["count"])["count"] as? Int
  }

  func cancel() {
    context.rollback()
  }

  func save() throws {
    do {
      try context.obtainPermanentIDs(for: Array(context.insertedObjects))
      try context.save()
    } catch let error as NSError {
      throw EditorSaveFailure(error).editorError
    }
    try stack.saveAndWait()
  }
}

/// What Core Data says, in the words of the editor.
private struct EditorSaveFailure {
  let editorError: SightingEditor.EditorError

  init(_ error: NSError) {
    let first: NSError
    if error.code == NSValidationMultipleErrorsError {
      first = (error.userInfo[NSDetailedErrorsKey] as! [NSError])[0]
    } else {
      first = error
    }
    let key = first.userInfo[NSValidationKeyErrorKey] as? String ?? ""
    switch first.code {
    case NSValidationMissingMandatoryPropertyError, NSValidationRelationshipLacksMinimumCountError:
      editorError = .missing(key)
    case NSManagedObjectValidationError, NSValidationNumberTooSmallError,
      NSValidationNumberTooLargeError:
      editorError = .invalid(key)
    default:
      editorError = .other(first.localizedDescription)
    }
  }
}
