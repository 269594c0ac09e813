import Synchronization

/// The versions of a model by name, in their order. Each is loaded when it is asked for, and once.
///
/// An application keeps every version that it ever shipped, and mostly needs one or two of them:
/// the current one, and that of a store which is older.
final class VersionHistory: Sendable {
  /// What loading a version came to.
  enum Loaded: Sendable {
    case version(VersionedModel.Version)
    case unreadable(VersionedModel.UnreadableVersion)
    /// The version is left out.
    case absent
  }

  let names: [String]
  private let load: @Sendable (String) -> Loaded
  private let loaded: Mutex<[Loaded?]>

  /// - Parameter load: called once for each name at most, on any thread, one at a time. Must not
  ///   use the history.
  init(_ names: [String], load: @escaping @Sendable (String) -> Loaded) {
    self.names = names
    self.load = load
    loaded = Mutex(Array(repeating: nil, count: names.count))
  }

  /// A history of versions that are there already.
  init(_ versions: [VersionedModel.Version]) {
    names = versions.map(\.name)
    load = { _ in .absent }
    loaded = Mutex(versions.map { .version($0) })
  }

  func index(of name: String) -> Int? { names.firstIndex(of: name) }

  /// - Returns: `nil` if the version cannot be loaded, or is left out.
  func version(at index: Int) -> VersionedModel.Version? {
    if case .version(let version) = entry(at: index) { version } else { nil }
  }

  func unreadableVersion(at index: Int) -> VersionedModel.UnreadableVersion? {
    if case .unreadable(let version) = entry(at: index) { version } else { nil }
  }

  private func entry(at index: Int) -> Loaded {
    loaded.withLock { loaded in
      if let entry = loaded[index] { return entry }
      let entry = load(names[index])
      loaded[index] = entry
      return entry
    }
  }
}
