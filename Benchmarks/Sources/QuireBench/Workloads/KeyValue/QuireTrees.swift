import QuireStorage

/// What differs between our two kinds of tree. Generic, not dynamic: the compiler makes each
/// workload twice, as a program with one kind of tree would have it.
protocol QuireTree: SendableMetatype {
  associatedtype Mutable
  associatedtype Reading

  static func create(_ name: String, _ transaction: WriteTransaction) throws
  static func mutable(_ name: String, _ transaction: WriteTransaction) throws -> Mutable?
  static func reading(_ name: String, _ snapshot: Snapshot) throws -> Reading?
  static func put(_ number: Int, _ data: KeyValueData, into tree: Mutable) throws
  static func get(
    _ number: Int, _ data: KeyValueData, in tree: Reading, _ sum: inout KeyValueSum) throws
  static func scan(_ tree: Reading) throws -> KeyValueSum
  /// Makes a tree of the numbers from 0 to below `count`, which come in the order of their keys.
  static func build(_ name: String, _ count: Int, _ transaction: WriteTransaction) throws
}

enum ByteKeys: QuireTree {
  static func create(_ name: String, _ transaction: WriteTransaction) throws {
    _ = try transaction.createIndexTree(name)
  }

  static func mutable(
    _ name: String, _ transaction: WriteTransaction
  ) throws -> MutableIndexTree? { try transaction.mutableIndexTree(name) }

  static func reading(_ name: String, _ snapshot: Snapshot) throws -> IndexTree? {
    try snapshot.indexTree(name)
  }

  @inline(__always)
  static func put(_ number: Int, _ data: KeyValueData, into tree: MutableIndexTree) throws {
    try tree.put(data.value(number), for: data.key(number))
  }

  static func build(_ name: String, _ count: Int, _ transaction: WriteTransaction) throws {
    let data = KeyValueData()
    try transaction.buildIndexTree(name) { builder in
      for number in 0..<count { try builder.append(data.value(number), for: data.key(number)) }
    }
  }

  @inline(__always)
  static func get(
    _ number: Int, _ data: KeyValueData, in tree: IndexTree, _ sum: inout KeyValueSum
  ) throws {
    try tree.withValue(for: data.key(number)) { sum.add(value: $0) }
  }

  static func scan(_ tree: IndexTree) throws -> KeyValueSum {
    var sum = KeyValueSum()
    var cursor = tree.cursor()
    while try cursor.next() {
      sum.add(key: try cursor.key, .bytes)
      sum.add(value: try cursor.valueBytes)
    }
    return sum
  }
}

enum IntegerKeys: QuireTree {
  static func create(_ name: String, _ transaction: WriteTransaction) throws {
    _ = try transaction.createRecordTree(name)
  }

  static func mutable(
    _ name: String, _ transaction: WriteTransaction
  ) throws -> MutableRecordTree? { try transaction.mutableRecordTree(name) }

  static func reading(_ name: String, _ snapshot: Snapshot) throws -> RecordTree? {
    try snapshot.recordTree(name)
  }

  @inline(__always)
  static func put(_ number: Int, _ data: KeyValueData, into tree: MutableRecordTree) throws {
    try tree.put(data.value(number), for: Int64(number))
  }

  static func build(_ name: String, _ count: Int, _ transaction: WriteTransaction) throws {
    let data = KeyValueData()
    try transaction.buildRecordTree(name) { builder in
      for number in 0..<count { try builder.append(data.value(number), for: Int64(number)) }
    }
  }

  @inline(__always)
  static func get(
    _ number: Int, _ data: KeyValueData, in tree: RecordTree, _ sum: inout KeyValueSum
  ) throws {
    try tree.withValue(for: Int64(number)) { sum.add(value: $0) }
  }

  static func scan(_ tree: RecordTree) throws -> KeyValueSum {
    var sum = KeyValueSum()
    var cursor = tree.cursor()
    while try cursor.next() {
      sum.add(key: Int(try cursor.key))
      sum.add(value: try cursor.valueBytes)
    }
    return sum
  }
}
