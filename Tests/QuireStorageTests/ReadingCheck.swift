import QuireSimulation
import QuireStorage

/// Reads a store that may be damaged in every way there is, and sees whether what it answers can be
/// true: each read may throw, none may be wrong.
struct ReadingCheck {
  /// The versions that everything read so far agrees with.
  private(set) var possible: [(number: Int, model: StoreModel)]
  /// The first thing that no version agrees with.
  private(set) var problem: String?
  /// Reads that threw.
  private(set) var errorCount = 0

  init(_ versions: ClosedRange<Int>, of models: [StoreModel]) {
    possible = versions.map { ($0, models[$0]) }
  }

  mutating func read(_ store: PageStore) {
    let names = Set(possible.flatMap { $0.model.names }).sorted()
    do throws(StorageError) {
      let snapshot = try store.snapshot()
      attempt { check throws(StorageError) in
        let found = try snapshot.treeNames()
        check.require("the names of the trees") { model in
          found.map(\.name) == model.names
            && found.allSatisfy {
              $0.count == model.entries(of: $0.name).count
                && ($0.kind == .index) == (model.indexes[$0.name] != nil)
            }
        }
      }
      for name in names { read(name, in: snapshot) }
    } catch {
      errorCount += 1
    }
  }

  private mutating func read(_ name: String, in snapshot: Snapshot) {
    let isIndex = possible.contains { $0.model.indexes[name] != nil }
    let models = possible.map { $0.model.entries(of: name) }
    for isForward in [true, false] {
      scan(name, isIndex, isForward: isForward, in: snapshot)
    }
    let keys = Set(models.flatMap { $0.map(\.key) }).sorted { $0.lexicographicallyPrecedes($1) }
    for (number, key) in keys.enumerated() where isExhaustive || number % 3 == 0 {
      attempt { check throws(StorageError) in
        let value =
          isIndex
          ? try snapshot.indexTree(name)?.value(for: key)?.array
          : try snapshot.recordTree(name)?.value(for: ReadingCheck.number(key))?.array
        check.require("\(name), key \(key)") { model in
          model.entries(of: name).first { $0.key == key }?.value == value
        }
      }
    }
  }

  /// Everything up to an error must be right; without one, complete.
  private mutating func scan(
    _ name: String, _ isIndex: Bool, isForward: Bool, in snapshot: Snapshot
  ) {
    var found: [(key: [UInt8], value: [UInt8])] = []
    var isComplete = false
    attempt { _ throws(StorageError) in
      if isIndex {
        guard var cursor = try snapshot.indexTree(name)?.cursor() else { return }
        while isForward ? try cursor.next() : try cursor.previous() {
          found.append(([UInt8](try cursor.key), try cursor.storedValue().array))
        }
      } else {
        guard var cursor = try snapshot.recordTree(name)?.cursor() else { return }
        while isForward ? try cursor.next() : try cursor.previous() {
          found.append(
            (StoreModel.bytes(of: try cursor.key), try cursor.storedValue().array))
        }
      }
      isComplete = true
    }
    require("\(name), \(found.count) entries from the \(isForward ? "start" : "end")") { model in
      var entries = model.entries(of: name)
      if !isForward { entries.reverse() }
      return (isComplete ? found.count == entries.count : found.count <= entries.count)
        && zip(found, entries).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    }
  }

  private static func number(_ key: [UInt8]) -> Int64 {
    key.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
  }

  private mutating func attempt(_ body: (inout ReadingCheck) throws(StorageError) -> Void) {
    do throws(StorageError) { try body(&self) } catch { errorCount += 1 }
  }

  private mutating func require(_ what: String, _ agrees: (StoreModel) -> Bool) {
    guard problem == nil else { return }
    let left = possible.filter { agrees($0.model) }
    if left.isEmpty {
      let numbers = possible.map { "\($0.number)" }.joined(separator: " or ")
      problem = "\(what): not as in version \(numbers)"
    } else {
      possible = left
    }
  }
}
