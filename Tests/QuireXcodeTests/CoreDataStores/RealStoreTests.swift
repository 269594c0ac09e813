import Foundation
import QuireModel
import QuireXcode
import Testing

@Suite(.enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)))
struct RealStoreTests {
  @Test(arguments: RealStore.all)
  func `every real store is read whole, and its version is found`(real: RealStore) throws {
    let store = try CoreDataStore(contentsOf: real.url())
    #expect(store.metadata.uuid == real.uuid)
    let model = try real.history()
    let contents = try store.contents(in: model)
    #expect(contents.versionName == real.version)
    let (objects, report) = try contents.readAll()
    #expect(report.objectCounts == real.objectCounts)
    #expect(contents.objectCounts == real.objectCounts)
    #expect(objects.count == real.objectCounts.values.reduce(0, +))
    #expect(report.unreadableValues.isEmpty && report.missingFiles.isEmpty, "\(report)")
    for (relationship, count) in real.linkCounts {
      #expect(report.linkCounts[relationship] == count, "\(relationship)")
    }
  }

  @Test(arguments: RealStore.all)
  func `no other version of the model has the structure of a real store`(real: RealStore) throws {
    let store = try CoreDataStore(contentsOf: real.url())
    let model = try real.history()
    let fitting = model.versions.filter { store.match($0.model).isZero }.map(\.name)
    // The first two versions of the bookmarks differ in indexes and hash modifiers alone.
    let twins = ["BookmarksModel", "BookmarksModel 2"]
    #expect(fitting == (twins.contains(real.version) ? twins : [real.version]))
  }

  @Test(arguments: RealStore.sampled)
  func `both sides of every relationship agree`(real: RealStore) throws {
    let contents = try contents(of: real.name)
    let (objects, report) = try contents.readAll()
    var links: Set<[String]> = []
    for object in objects {
      for (name, target) in object.toOne { links.insert(Self.link(object.reference, name, target)) }
      for (name, targets) in object.toMany {
        for target in targets { links.insert(Self.link(object.reference, name, target)) }
        #expect(Set(targets).count == targets.count)
      }
    }
    #expect(links.count == report.linkCounts.values.reduce(0, +))
    let byReference = Dictionary(uniqueKeysWithValues: objects.map { ($0.reference, $0) })
    for object in objects {
      for relationship in object.entity.relationships {
        guard let inverse = contents.model.inverse(of: relationship) else { continue }
        let targets =
          object.toMany[relationship.name] ?? object.toOne[relationship.name].map { [$0] } ?? []
        for target in targets {
          #expect(byReference[target]?.entity.isKindOf(entity: inverse.entity) == true)
          #expect(links.contains(Self.link(target, inverse.relationship.name, object.reference)))
        }
      }
    }
  }

  @Test func `the rows put in by hand keep their object, and their references are reported`() throws
  {
    let (objects, report) = try contents(of: "ArtsyPartner_1.3").readAll()
    let artwork = try #require(objects.first { $0.entity.name == "Artwork" })
    #expect(artwork.attributes["title"] == "one work" && artwork.toOne.isEmpty)
    #expect(
      report.danglingReferences == [
        .init(
          entity: "Artwork", key: 1, relationship: "artist", destination: "Artist",
          destinationKey: 1, reason: .missing)
      ])
    let other = try contents(of: "ArtsyPartner_2.0")
    let (artworks, second) = try other.readAll()
    #expect(artworks.map(\.reference) == [.init(entity: "Artwork", key: 1)])
    #expect(
      Set(second.danglingReferences.map(\.relationship)) == [
        "artist", "mainImage", "notes", "partner",
      ])
    #expect(other.maximumPrimaryKeys["Artwork"] == 1)
  }

  @Test func `decimals, dates and keys of the Folio stores are those sqlite3 shows`() throws {
    let contents = try contents(of: "ArtsyPartner_1.4")
    let (objects, _) = try contents.readAll()
    func depths(_ matches: (Decimal) -> Bool) -> Int {
      objects.filter {
        if case .decimal(let depth)? = $0.attributes["depth"] { matches(depth) } else { false }
      }.count
    }
    #expect(depths { $0.isNaN } == 12)
    #expect(depths { $0 == Decimal(string: "3.1") } == 1)
    #expect(depths { !$0.isNaN } == 20)
    let shows = objects.filter { $0.entity.name == "Show" }
    #expect(shows[key: 1]?.attributes["name"] == "Folio 1.4 Release Party")
    #expect(
      shows[key: 1]?.attributes["startsAt"]
        == .date(Date(timeIntervalSinceReferenceDate: 312_163_200)))
    #expect(
      objects.filter { $0.entity.name == "Album" }.map(\.primaryKey) == Array(11...20))
    #expect(objects.keys("Album", 11, toMany: "artworks") == [20, 21, 30])
    #expect(contents.maximumPrimaryKeys["Artist"] == 4)
  }

  @Test func `subentities of the open Folio store keep their own properties`() throws {
    let (objects, _) = try contents(of: "oss_stubbed_data").readAll()
    let images = objects.filter { $0.entity.root.name == "Image" }
    #expect(images[key: 1]?.entity.name == "Image")
    #expect(images[key: 1]?.attributes["aspectRatio"] == .float(1.33))
    #expect(images[key: 57]?.entity.name == "InstallShotImage")
    #expect(images[key: 57]?.attributes["caption"] == "1")
    #expect(
      images[key: 57]?.toOne["showWithImageInInstallation"] == .init(entity: "Show", key: 1))
    #expect(objects.keys("Show", 1, toMany: "installationImages") == [50, 51, 54, 57])
    let documents = objects.filter { $0.entity.root.name == "Document" }
    #expect(
      documents.map(\.entity.name) == [
        "ArtistDocument", "ArtistDocument", "ArtistDocument", "ShowDocument",
      ])
    #expect(documents[3].toOne["show"]?.key == 2)
    #expect(documents[3].attributes["size"] == 229192)
  }

  @Test func `bookmarks and favorites have the order in which they were put`() throws {
    let (old, _) = try contents(of: "Bookmarks_V1").readAll()
    #expect(old.keys("BookmarkEntity", 10, toMany: "children") == [4, 2, 7, 8, 6])
    #expect(old.keys("BookmarkEntity", 9, toMany: "favorites") == [6, 8, 1, 3, 2])
    let (new, _) = try contents(of: "Bookmarks_V5").readAll()
    #expect(new.keys("BookmarkEntity", 8, toMany: "children") == [5, 10, 4, 1, 3])
    #expect(new.keys("BookmarkEntity", 6, toMany: "favorites") == [3, 1, 9, 2, 10])
    #expect(new.keys("BookmarkEntity", 9, toMany: "favoriteFolders") == [6])
    #expect(
      new[key: 1]?.attributes["modifiedAt"]
        == .date(Date(timeIntervalSinceReferenceDate: 731947175.405035)))
    #expect(new[key: 4]?.attributes["isFolder"] == true)
    #expect(new[key: 4]?.attributes["url"] == nil)
  }

  @Test func `a store without its log has tables but no rows`() throws {
    let folder = try TemporaryFolder()
    for real in RealStore.all where real.project == "duckduckgo-bookmarks" {
      let url = try real.copy(to: folder)
      try FileManager.default.removeItem(atPath: url.path + "-wal")
      let model = try real.history()
      let report = try CoreDataStore(contentsOf: url).contents(in: model).objects.report
      #expect(report.objectCount == 0 && report.version == real.version, "\(real.name)")
    }
  }

  @Test func `a store of another application is refused, with the nearest version`() throws {
    let store = try CoreDataStore(
      contentsOf: RealData.url("duckduckgo-bookmarks/stores/Bookmarks_V5.sqlite"))
    let model = try VersionedModel(
      contentsOf: RealData.url("artsy-folio/ArtsyPartner.xcdatamodeld"))
    #expect { try store.contents(in: model) } throws: {
      "\($0)".contains("The nearest is “ArtsyPartner”, and there the store has no entity Artist")
    }
    #expect { try store.contents(in: model, version: "ArtsyFolio v2.0") } throws: {
      "\($0)".contains("the store has no entity Album")
    }
  }

  private func contents(of name: String) throws -> CoreDataContents {
    let real = try #require(RealStore.all.first { $0.name == name })
    return try CoreDataStore(contentsOf: real.url())
      .contents(in: real.history())
  }

  private static func link(
    _ source: CoreDataObject.Reference, _ name: String, _ target: CoreDataObject.Reference
  ) -> [String] {
    [source.entity, "\(source.key)", name, target.entity, "\(target.key)"]
  }
}
