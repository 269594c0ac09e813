import Foundation
import Quire
import QuireModel
import QuireSimulation
import Testing

@Suite struct LimitsGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  @Test func `limits are constants`() {
    print(ManagedObjectModel.maximumPropertyCount)
    print(ManagedObjectModel.maximumAncestorCount)
    print(ManagedObjectModel.maximumCompositeDepth)
    #expect(
      printed.take() == """
        250000
        200
        64
        """)
  }

  @Test func `a newer format is refused`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "newer.quire")
    try FileManager.default.copyItem(
      at: Page.root.appending(path: "Fixtures/Damaged/newer-format.quire"), to: url)
    func print(_ error: any Error) {
      self.print("\(error)".replacing(folder.path, with: "/home/me"))
    }
    do {
      _ = try StoreSummary(of: url)
    } catch {
      print(error)
    }
    #expect(
      printed.take() == """
        error 134080: the store at /home/me/newer.quire cannot be opened (the store has format 3.0; this release reads up to 2.0)
        """)
  }
}
