//
//  Species+CoreDataProperties.swift
//  Lark
//
//  This file was automatically generated and should not be edited.
//

import CoreData
import Foundation

extension Species {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Species> {
    return NSFetchRequest<Species>(entityName: "Species")
  }

  @NSManaged public var code: String
  @NSManaged public var commonName: String
  @NSManaged public var family: String?
  @NSManaged public var isFavorite: Bool
  @NSManaged public var scientificName: String?
  @NSManaged public var sortOrder: Int32
  @NSManaged public var sightings: NSSet?

}

// MARK: Generated accessors for sightings
extension Species {

  @objc(addSightingsObject:)
  @NSManaged public func addToSightings(_ value: Sighting)

  @objc(removeSightingsObject:)
  @NSManaged public func removeFromSightings(_ value: Sighting)

  @objc(addSightings:)
  @NSManaged public func addToSightings(_ values: NSSet)

  @objc(removeSightings:)
  @NSManaged public func removeFromSightings(_ values: NSSet)

}

extension Species: Identifiable {

}
