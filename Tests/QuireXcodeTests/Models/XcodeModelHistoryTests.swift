import Foundation
import QuireModel
import QuireXcode
import Testing

@Suite struct XcodeModelHistoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `versions named like the model come first, numbers count as numbers`() throws {
    for name in ["Shop", "Shop 2", "Shop 10", "Store v1.9", "Store v1.10", "Store v1.10.1"] {
      try addVersion(name)
    }
    try setCurrent("Shop 10.xcdatamodel")
    let model = try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld"))
    #expect(
      model.versions.map(\.name)
        == ["Shop", "Shop 2", "Shop 10", "Store v1.9", "Store v1.10", "Store v1.10.1"])
    #expect(model.currentVersion.name == "Shop 10")
    #expect(model.name == "Shop")
  }

  @Test func `a single version needs no note of which is current`() throws {
    try addVersion("Shop")
    let model = try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld"))
    #expect(model.currentVersion.name == "Shop")
    let same = try VersionedModel(
      contentsOf: folder.file("Shop.xcdatamodeld").appendingPathComponent("Shop.xcdatamodel"))
    #expect(same.versions == model.versions)
  }

  @Test func `a current version that is not there is an error that lists those that are`() throws {
    try addVersion("Shop")
    try addVersion("Shop 2")
    try setCurrent("Shop 3.xcdatamodel")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      ($0 as? XcodeModelError)?.reason == .noSuchVersion("Shop 3", versions: ["Shop", "Shop 2"])
    }
    try folder.write("not a list", to: "Shop.xcdatamodeld/.xccurrentversion")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      "\($0)".contains("not a property list")
    }
  }

  @Test func `a folder without versions and one that is not there are refused`() throws {
    try folder.write("x", to: "Shop.xcdatamodeld/readme")
    #expect { try VersionedModel(contentsOf: folder.file("Shop.xcdatamodeld")) } throws: {
      "\($0)".contains("has no version")
    }
    #expect(throws: XcodeModelError.self) {
      try VersionedModel(contentsOf: folder.file("None.xcdatamodeld"))
    }
  }

  private func addVersion(_ name: String) throws {
    try folder.write(
      "<model><entity name=\"A\"/></model>", to: "Shop.xcdatamodeld/\(name).xcdatamodel/contents")
  }

  private func setCurrent(_ name: String) throws {
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict>
      </plist>
      """, to: "Shop.xcdatamodeld/.xccurrentversion")
  }
}
