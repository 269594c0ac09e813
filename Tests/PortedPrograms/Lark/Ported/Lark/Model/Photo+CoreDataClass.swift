import Foundation
import QuireCoreData

public class Photo: NSManagedObject {
  @QuireCoreData.Managed public var caption: String?
  @QuireCoreData.Managed public var data: Data?
  @QuireCoreData.Managed public var height: Int32
  @QuireCoreData.Managed public var sighting: Sighting?
  @QuireCoreData.Managed public var width: Int32
}

extension Photo {
  public class func fetchRequest() -> NSFetchRequest<Photo> {
    NSFetchRequest<Photo>(entityName: "Photo")
  }
}
