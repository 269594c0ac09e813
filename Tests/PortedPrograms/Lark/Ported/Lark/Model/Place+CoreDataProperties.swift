import Foundation
import QuireCoreData

extension Place {
  public class func fetchRequest() -> NSFetchRequest<Place> {
    NSFetchRequest<Place>(entityName: "Place")
  }

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
