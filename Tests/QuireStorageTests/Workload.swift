import QuireStorage

/// Everything in a store, for tests that compare it before and after.
enum Workload {
  typealias Contents = [String: [[UInt8]]]

  static func contents(of store: PageStore) throws -> Contents {
    try store.read { snapshot in
      var contents: Contents = [:]
      for (name, kind, count) in try snapshot.treeNames() {
        var entries = [[UInt8(truncatingIfNeeded: count)]]
        if kind == .record, var cursor = try snapshot.recordTree(name)?.cursor() {
          while try cursor.next() {
            entries.append([UInt8]("\(try cursor.key)".utf8) + (try cursor.storedValue().array))
          }
        } else if var cursor = try snapshot.indexTree(name)?.cursor() {
          while try cursor.next() {
            entries.append(try [UInt8](cursor.key) + cursor.storedValue().array)
          }
        }
        contents[name] = entries
      }
      return contents
    }
  }
}
