//
//  Species+CoreDataClass.swift
//  Lark
//

import Foundation
import QuireCoreData

public class Species: NSManagedObject {
  @QuireCoreData.Managed public var code: String
  @QuireCoreData.Managed public var commonName: String
  @QuireCoreData.Managed public var family: String?
  @QuireCoreData.Managed public var isFavorite: Bool
  @QuireCoreData.Managed public var scientificName: String?
  @QuireCoreData.Managed public var sortOrder: Int32
  public var sightings: NSSet? {
    get { value(forKey: "sightings") as? NSSet }
    set { setValue(newValue, forKey: "sightings") }
  }

  /// The heading that a list by name has for this species.
  public var initial: String {
    return String(commonName.prefix(1)).uppercased()
  }

  public override func awakeFromFetch() {
    super.awakeFromFetch()
    cachedAbbreviation = nil
  }

  private var cachedAbbreviation: String?

  var abbreviation: String {
    if let cached = cachedAbbreviation { return cached }
    let words = commonName.split(separator: " ")
    let value = words.compactMap { $0.first.map(String.init) }.joined().uppercased()
    cachedAbbreviation = value
    return value
  }

  public override func validateForDelete() throws {
    try super.validateForDelete()
    if isFavorite {
      throw NSError(
        domain: "LarkErrorDomain", code: 12,
        userInfo: [NSLocalizedDescriptionKey: "\(commonName) is a favorite"])
    }
  }

  public override func value(forUndefinedKey key: String) -> Any? {
    switch key {
    case "initial": return initial
    default: return super.value(forUndefinedKey: key)
    }
  }
}

extension Species: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(key: "commonName", ascending: true)]
  }

  static func fetchedResultsController(
    in context: NSManagedObjectContext, onlyFavorites: Bool
  ) -> NSFetchedResultsController<Species> {
    let request: NSFetchRequest<Species> = Species.fetchRequest()
    request.sortDescriptors = [
      NSSortDescriptor(
        key: "commonName", ascending: true,
        selector: .localizedCaseInsensitiveCompare)
    ]
    if onlyFavorites {
      request.predicate = NSPredicate(format: "%K == YES", "isFavorite")
    }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context,
      sectionNameKeyPath: "initial", cacheName: nil)
  }

  static func find(code: String, in context: NSManagedObjectContext) -> Species? {
    return findOrFetch(
      in: context, matching: NSPredicate(format: "%K == %@", "code", code))
  }

  static func findOrCreate(
    code: String, commonName: @autoclosure () -> String, in context: NSManagedObjectContext
  ) -> Species {
    let predicate = NSPredicate(format: "%K == %@", "code", code)
    return findOrCreate(in: context, matching: predicate) {
      $0.code = code
      $0.commonName = commonName()
    }
  }
}
