import Foundation
import QuireCoreData

public class Checklist: NSManagedObject {
  @QuireCoreData.Managed public var createdAt: Date?
  @QuireCoreData.Managed public var isShared: Bool
  public var sightings: NSOrderedSet? {
    get { value(forKey: "sightings") as? NSOrderedSet }
    set { setValue(newValue, forKey: "sightings") }
  }
  @QuireCoreData.Managed public var title: String?
}

extension Checklist {
  public class func fetchRequest() -> NSFetchRequest<Checklist> {
    NSFetchRequest<Checklist>(entityName: "Checklist")
  }

  public func insertIntoSightings(_ value: Sighting, at idx: Int) {
    mutableOrderedSetValue(forKey: "sightings").insert(value, at: idx)
  }

  public func removeFromSightings(at idx: Int) {
    mutableOrderedSetValue(forKey: "sightings").removeObject(at: idx)
  }

  public func insertIntoSightings(_ values: [Sighting], at indexes: NSIndexSet) {
    let members = mutableOrderedSetValue(forKey: "sightings")
    for (index, value) in zip(indexes, values) { members.insert(value, at: index) }
  }

  public func removeFromSightings(at indexes: NSIndexSet) {
    let members = mutableOrderedSetValue(forKey: "sightings")
    for index in indexes.reversed() { members.removeObject(at: index) }
  }

  public func replaceSightings(at idx: Int, with value: Sighting) {
    mutableOrderedSetValue(forKey: "sightings").replaceObject(at: idx, with: value)
  }

  public func replaceSightings(at indexes: NSIndexSet, with values: [Sighting]) {
    let members = mutableOrderedSetValue(forKey: "sightings")
    for (index, value) in zip(indexes, values) { members.replaceObject(at: index, with: value) }
  }

  public func addToSightings(_ value: Sighting) {
    mutableOrderedSetValue(forKey: "sightings").add(value)
  }

  public func removeFromSightings(_ value: Sighting) {
    mutableOrderedSetValue(forKey: "sightings").remove(value)
  }

  public func addToSightings(_ values: NSOrderedSet) {
    let members = mutableOrderedSetValue(forKey: "sightings")
    for value in values { members.add(value) }
  }

  public func removeFromSightings(_ values: NSOrderedSet) {
    let members = mutableOrderedSetValue(forKey: "sightings")
    for value in values { members.remove(value) }
  }
}
