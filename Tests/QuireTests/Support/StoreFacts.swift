import Quire

/// What an inspection of a context's store finds, also of one in memory.
struct StoreFacts {
  let findings: [String]
  var isSound: Bool { findings.isEmpty }

  init(_ context: ManagedObjectContext) throws {
    guard let store = context.persistentStoreCoordinator?.persistentStores.first else {
      findings = ["there is no store"]
      return
    }
    if let rows = store.incrementalStore as? RowStore {
      findings = rows.server.now.findings(rows.model)
    } else {
      findings = try StoreInspection(of: store).findings
    }
  }
}
