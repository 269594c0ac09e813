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
    let model = try VersionedModel(contentsOf: real.modelURL())
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
    print(report)
  }
}
