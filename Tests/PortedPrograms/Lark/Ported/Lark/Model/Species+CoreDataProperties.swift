//
//  Species+CoreDataProperties.swift
//  Lark
//
//  This file was automatically generated and should not be edited.
//

import Foundation
import QuireCoreData

extension Species {

  public class func fetchRequest() -> NSFetchRequest<Species> {
    return NSFetchRequest<Species>(entityName: "Species")
  }
}

// MARK: Generated accessors for sightings
extension Species {

  public func addToSightings(_ value: Sighting) {
    mutableSetValue(forKey: "sightings").add(value)
  }

  public func removeFromSightings(_ value: Sighting) {
    mutableSetValue(forKey: "sightings").remove(value)
  }

  public func addToSightings(_ values: NSSet) {
    let members = mutableSetValue(forKey: "sightings")
    for value in values { members.add(value) }
  }

  public func removeFromSightings(_ values: NSSet) {
    let members = mutableSetValue(forKey: "sightings")
    for value in values { members.remove(value) }
  }

}

extension Species: Identifiable {

}
