import Foundation
import Quire
import QuireModel

/// A store of works and artists, and what is in it.
struct Shop {
  struct Work: Equatable {
    var title: String?
    var year: Int?
    var price: Double?
    var artist: Int?
  }

  static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("works", toMany: "Work", inverse: "artist")
    }
    Entity("Work") {
      Attribute("title", .string)
      Attribute("year", .integer16)
      Attribute("price", .double)
      Attribute("acquired", .date)
      Relationship("artist", toOne: "Artist", inverse: "works")
      FetchIndex("byYear", on: "year")
      FetchIndex("byTitle", on: "title")
    }
    Entity("Print", parent: "Work") { Attribute("edition", .integer32) }
  }

  /// Has the store for as long as it is kept.
  let folder: TemporaryFolder
  let path: String
  let works: [Work]

  init(in folder: TemporaryFolder, count: Int = 60) throws {
    self.folder = folder
    path = folder.path("shop.quire")
    works = (0..<count).map { number in
      Work(
        title: number % 10 == 9 ? nil : "title \(number % 7)",
        year: number % 6 == 5 ? nil : 1900 + number % 6, price: Double(number % 13) / 2,
        artist: number % 4 == 3 ? nil : number % 4)
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
    let store = try coordinator.addPersistentStore(type: .quire, at: URL(filePath: path))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let artists = try (0..<3).map { number in
      let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
      try artist.setValue("artist \(number)", forKey: "name")
      return artist
    }
    for work in works {
      let object = try EntityDescription.insertNewObject(forEntityName: "Work", into: context)
      try object.setValue(work.title, forKey: "title")
      try object.setValue(work.year, forKey: "year")
      try object.setValue(work.price, forKey: "price")
      try object.setValue(work.artist.map { artists[$0] }, forKey: "artist")
      // In the order of the list.
      try context.save()
    }
    try coordinator.remove(store)
  }
}
