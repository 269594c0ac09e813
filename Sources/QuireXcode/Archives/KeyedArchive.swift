import Foundation

/// A keyed archive of Core Data's `NSKeyedArchiver`: a table of objects that refer to each other.
///
/// The toolchain's unarchiver would make objects of it, which ends the process where there is no
/// such class, and by default where the archive is malformed. Here an archive is only read as data,
/// item by item, and whatever is wrong is an error that names the location: `root.NSArguments[1]`.
///
/// Each path through an archive is bounded: it cannot refer back to an object on it, and one
/// archive returns a limited number of items, so that a small archive whose objects share others
/// does not become an endless tree.
final class KeyedArchive {
  private let objects: [PropertyList]
  private let top: [String: PropertyList]
  private let itemLimit: Int
  private var itemCount = 0

  init(_ data: Data) throws(PropertyListError) {
    guard case .dictionary(let list) = try PropertyList(data) else {
      throw PropertyListError("is a property list, but no keyed archive")
    }
    guard case .array(let objects)? = list["$objects"], case .dictionary(let top)? = list["$top"]
    else { throw PropertyListError("is no keyed archive: it has no $objects and no $top") }
    (self.objects, self.top) = (objects, top)
    // Archives of mapping models refer to each object once or twice.
    itemLimit = 10_000 + 20 * objects.count
  }

  /// The archived value.
  func root() throws(PropertyListError) -> ArchivedItem {
    // `root` unless the archive was made without NSKeyedArchiver's convenience.
    guard let value = top["root"] ?? (top.count == 1 ? top.first?.value : nil),
      let root = try item(value, location: "root", open: [])
    else { throw PropertyListError("is a keyed archive without a root") }
    return root
  }

  /// - Returns: `nil` for the archived absence of an object.
  fileprivate func item(
    _ value: PropertyList, location: String, open: [Int]
  ) throws(PropertyListError) -> ArchivedItem? {
    itemCount += 1
    guard itemCount <= itemLimit else {
      throw PropertyListError("is one of more than \(itemLimit) items", at: location)
    }
    guard case .uid(let index) = value else {
      return ArchivedItem(archive: self, value: value, location: location, open: open)
    }
    guard index != 0 else { return nil }
    guard objects.indices.contains(index) else {
      throw PropertyListError("is object \(index), which the archive does not have", at: location)
    }
    guard !open.contains(index) else {
      throw PropertyListError("refers back to object \(index), in which it is", at: location)
    }
    guard open.count < PropertyList.depthLimit * 2 else {
      throw PropertyListError("is nested too deep", at: location)
    }
    if case .uid = objects[index] {
      throw PropertyListError("is object \(index), which is only a reference", at: location)
    }
    return ArchivedItem(
      archive: self, value: objects[index], location: location, open: open + [index])
  }

  fileprivate func className(
    of fields: [String: PropertyList], _ location: String
  ) throws(PropertyListError) -> String? {
    guard let reference = fields["$class"] else { return nil }
    guard case .uid(let index) = reference, objects.indices.contains(index),
      case .dictionary(let description) = objects[index],
      case .string(let name)? = description["$classname"]
    else { throw PropertyListError("has a damaged class", at: location) }
    return name
  }
}

/// One object or plain value of a keyed archive.
struct ArchivedItem {
  fileprivate let archive: KeyedArchive
  let value: PropertyList
  /// The path from the root to the item: `root.NSArguments[1]`.
  let location: String
  /// The objects on the way, this one included.
  fileprivate let open: [Int]

  func error(_ words: String) -> PropertyListError { PropertyListError(words, at: location) }

  /// The name of an object's class; `nil` for a plain value.
  func className() throws(PropertyListError) -> String? {
    guard case .dictionary(let fields) = value else { return nil }
    return try archive.className(of: fields, location)
  }

  /// The value that an object has for a key; `nil` when there is none.
  func item(_ key: String) throws(PropertyListError) -> ArchivedItem? {
    guard case .dictionary(let fields) = value else {
      throw error("is no object, and has no \(key)")
    }
    guard let found = fields[key] else { return nil }
    return try archive.item(found, location: "\(location).\(key)", open: open)
  }

  func required(_ key: String) throws(PropertyListError) -> ArchivedItem {
    guard let found = try item(key) else { throw error("has no \(key)") }
    return found
  }

  /// The members of an archived array or set, nothing among them as `nil`.
  func members(_ key: String = "NS.objects") throws(PropertyListError) -> [ArchivedItem?] {
    let list: PropertyList
    switch value {
    case .array: list = value
    case .dictionary(let fields):
      guard let found = fields[key] else { throw error("is not a list of objects") }
      list = found
    default: throw error("is not a list of objects")
    }
    guard case .array(let values) = list else { throw error("is not a list of objects") }
    var members: [ArchivedItem?] = []
    for (index, member) in values.enumerated() {
      members.append(try archive.item(member, location: "\(location)[\(index)]", open: open))
    }
    return members
  }

  /// The entries of an archived dictionary whose keys are texts.
  func entries() throws(PropertyListError) -> [(key: String, value: ArchivedItem?)] {
    let (keys, values) = (try members("NS.keys"), try members("NS.objects"))
    guard keys.count == values.count else { throw error("has other numbers of keys and values") }
    var entries: [(key: String, value: ArchivedItem?)] = []
    for (key, value) in zip(keys, values) {
      guard let key else { throw error("has an entry without a key") }
      entries.append((try key.text(), value))
    }
    return entries
  }

  // MARK: Plain values

  func text() throws(PropertyListError) -> String {
    if case .string(let text) = value { return text }
    if case .dictionary(let fields) = value, case .string(let text)? = fields["NS.string"] {
      return text
    }
    throw error("is not a text")
  }

  func data() throws(PropertyListError) -> Data {
    if case .data(let data) = value { return data }
    if case .dictionary(let fields) = value, case .data(let data)? = fields["NS.data"] {
      return data
    }
    throw error("is not data")
  }

  func integer() throws(PropertyListError) -> Int64 {
    switch value {
    case .integer(let number): return number
    case .boolean(let flag): return flag ? 1 : 0
    default: throw error("is not an integer")
    }
  }

  func text(_ key: String) throws(PropertyListError) -> String? { try item(key)?.text() }

  func integer(_ key: String) throws(PropertyListError) -> Int64 { try item(key)?.integer() ?? 0 }
}
