import Quire
import QuireStorage
import Testing

/// Rows that are damaged though the checksums of their pages are right.
@Suite struct DamagedRowTests {
  private static let model = try! ManagedObjectModel {
    Entity("Work") {
      Attribute("rating", .integer64, default: 0)
      Attribute("title", .string)
      Attribute("photo", .binaryData, storedExternally: true)
    }
  }

  /// A store of three works, the second of which `change` has changed.
  private func damaged(_ change: (inout [UInt8]) -> Void) throws -> ManagedObjectContext {
    let scene = IndexScene()
    let context = try scene.open(Self.model)
    for rating in 1...3 {
      try context.add("Work", ["rating": rating, "title": "title \(rating)"])
    }
    try context.save()
    try scene.close(context)
    let pages = try PageStore.open(IndexScene.url.path(percentEncoded: false), in: scene.disk)
    try pages.write { transaction in
      let name = try #require(try transaction.treeNames().first { $0.name.hasPrefix("rows") }?.name)
      let rows = try #require(try transaction.mutableRecordTree(name))
      var row = try #require(try rows.withValue(for: 2) { Array($0) })
      change(&row)
      _ = try row.withUnsafeBytes { try rows.put($0, for: 2) }
    }
    try pages.close()
    return try scene.open(Self.model)
  }

  /// Who asked for ratings found those that the row was not among, and was told nothing.
  @Test(arguments: [1, 5])
  func `a fetch that passes a row over for its fixed part says that it is damaged`(
    _ byteCount: Int
  ) throws {
    let whole = try damaged { _ in }
    for format in ["rating == 3", "rating < 2", "rating == 2"] {
      #expect(try whole.found("Work", FetchPredicate(format: format)).objects.count == 1)
    }
    let context = try damaged { $0.removeLast(byteCount) }
    for format in ["rating == 3", "rating < 2", "rating == 2"] {
      #expect(throws: (any Error).self, "\(format)") {
        try context.found("Work", FetchPredicate(format: format))
      }
    }
    // The first of an order: the others are told by their first key alone.
    #expect(throws: (any Error).self) {
      try context.found(
        "Work", by: [FetchSortDescriptor(key: "rating", ascending: false)], limit: 1)
    }
  }
}
