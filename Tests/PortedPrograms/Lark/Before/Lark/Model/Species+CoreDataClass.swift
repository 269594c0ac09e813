//
//  Species+CoreDataClass.swift
//  Lark
//

import CoreData
import Foundation

@objc(Species)
public class Species: NSManagedObject {
  /// The heading that a list by name has for this species.
  @objc public var initial: String {
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
}

extension Species: Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    return [NSSortDescriptor(key: #keyPath(commonName), ascending: true)]
  }

  static func fetchedResultsController(
    in context: NSManagedObjectContext, onlyFavorites: Bool
  ) -> NSFetchedResultsController<Species> {
    let request: NSFetchRequest<Species> = Species.fetchRequest()
    request.sortDescriptors = [
      NSSortDescriptor(
        key: #keyPath(Species.commonName), ascending: true,
        selector: #selector(NSString.localizedCaseInsensitiveCompare(_:)))
    ]
    if onlyFavorites {
      request.predicate = NSPredicate(format: "%K == YES", #keyPath(Species.isFavorite))
    }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context,
      sectionNameKeyPath: #keyPath(Species.initial), cacheName: nil)
  }

  static func find(code: String, in context: NSManagedObjectContext) -> Species? {
    return findOrFetch(
      in: context, matching: NSPredicate(format: "%K == %@", #keyPath(Species.code), code))
  }

  static func findOrCreate(
    code: String, commonName: @autoclosure () -> String, in context: NSManagedObjectContext
  ) -> Species {
    let predicate = NSPredicate(format: "%K == %@", #keyPath(Species.code), code)
    return findOrCreate(in: context, matching: predicate) {
      $0.code = code
      $0.commonName = commonName()
    }
  }
}
