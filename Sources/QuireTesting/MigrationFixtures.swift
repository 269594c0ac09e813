import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder with a store of every version that was ever shipped.
///
/// Three lines test all of them:
///
/// ```swift
/// let fixtures = MigrationFixtures(in: folder)
/// try fixtures.requireFixtures(of: model)
/// try fixtures.check(migratingTo: model, budget: .milliseconds(200))
/// ```
///
/// Every file in the folder and its subfolders is a fixture, whatever its name, and a file that is
/// no sound store fails: a fixture that was damaged, truncated or not fetched is never ignored. The
/// only files that are not fixtures are the `-log`, `-pages`, `-log-new`, `-pages-new` and `-owner`
/// beside a store of that name, which belong to it; and the ``ignoredFiles``.
///
/// The files are read and never written to; they may be in a read-only folder. Only
/// ``record(_:named:uuid:replacing:classes:fill:)`` and ``record(copying:of:named:replacing:)``
/// make files there.
///
/// ## Example
///
/// A fixture of the version that is shipped, recorded once, and the check that every later version
/// has to pass:
///
/// ```swift
/// let first = try ManagedObjectModel { Entity("Artwork") { Attribute("title", .string) } }
/// let second = try ManagedObjectModel {
///   Entity("Artwork") {
///     Attribute("title", .string)
///     Attribute("price", .double, default: 0)
///   }
/// }
/// guard let model = VersionedModel(versions: [.init("1", first), .init("2", second)]),
///   let shipped = model.endingAt("1")
/// else { return }
/// let fixtures = MigrationFixtures(in: folder)
/// try fixtures.record(shipped) { context in
///   let wave = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
///   try wave.setValue("The Great Wave", forKey: "title")
/// }
/// try fixtures.check(migratingTo: model, budget: .seconds(5)) { fixture, context in
///   let request = FetchRequest<ManagedObject>(entityName: "Artwork")
///   print(fixture.name, try context.count(for: request))
/// }
/// ```
///
/// prints
///
/// ```
/// 1.quire 1
/// ```
public struct MigrationFixtures: Sendable {
  /// Where the fixtures are.
  public let folder: URL
  private let ignored: Set<String>

  /// - Parameter ignoring: paths from the folder to files and subfolders that hold no fixture and
  ///   would not be ignored by their names.
  public init(in folder: URL, ignoring: Set<String> = []) {
    self.folder = folder
    ignored = ignoring
  }

  /// The fixtures, by path, with numbers in the order of numbers.
  ///
  /// - Throws: ``MigrationFixtureError`` when there is no such folder, or no fixture in it, so that
  ///   a test without any fixture does not pass.
  public var all: [MigrationFixture] {
    get throws {
      let files = try files()
      let paths = Set(files)
      let fixtures = files.filter { !isIgnored($0) && !isCompanion($0, among: paths) }
      guard !fixtures.isEmpty else {
        let rest = files.isEmpty ? "it is empty" : "all it has is \(files.joined(separator: ", "))"
        throw failure("there is no fixture in it: \(rest)")
      }
      return fixtures.map { MigrationFixture(at: folder.appending(path: $0), name: $0) }
    }
  }

  /// Paths of the files that are not treated as stores: hidden ones (`.gitignore`), texts (`md`,
  /// `txt`, `json`, `plist`), files in a model (`xcdatamodeld`, `xcdatamodel`, `momd`), and those
  /// that the fixtures were told to ignore.
  public var ignoredFiles: [String] {
    get throws { try files().filter(isIgnored) }
  }

  /// Checks each fixture, for test frameworks without arguments: see the method of that name of
  /// ``MigrationFixture``.
  ///
  /// - Parameters:
  ///   - counts: those of single fixtures, by their names.
  ///   - look: also gets the fixture.
  /// - Throws: ``MigrationFixtureError`` with the failures of all fixtures.
  public func check(
    migratingTo model: VersionedModel, budget: Duration? = nil,
    counts: [String: ExpectedCounts] = [:], changedEntities: Set<String> = [],
    dropped: Set<String> = [], stepByStep: Bool = false, classes: [ManagedObject.Type] = [],
    options: PersistentStoreOptions = .migrating,
    look: (MigrationFixture, ManagedObjectContext) throws -> Void = { _, _ in }
  ) throws {
    let fixtures = try all
    var failures = counts.keys.sorted().filter { name in !fixtures.contains { $0.name == name } }
      .map { "there is no fixture “\($0)”, of which counts are expected" }
    for fixture in fixtures {
      do {
        try fixture.check(
          migratingTo: model, budget: budget, counts: counts[fixture.name] ?? [:],
          changedEntities: changedEntities, dropped: dropped, stepByStep: stepByStep,
          classes: classes, options: options
        ) { try look(fixture, $0) }
      } catch {
        failures.append("\(error)")
      }
    }
    if !failures.isEmpty { throw failure(failures) }
  }

  func failure(_ failures: [String]) -> MigrationFixtureError {
    MigrationFixtureError(
      "the fixtures in “\(folder.path(percentEncoded: false))”", failures)
  }

  func failure(_ text: String) -> MigrationFixtureError { failure([text]) }

  // MARK: Files

  /// The paths of all files.
  private func files() throws -> [String] {
    let path = folder.path(percentEncoded: false)
    let paths: [String]
    do {
      paths = try FileManager.default.subpathsOfDirectory(atPath: path)
    } catch {
      throw failure(
        FixtureFiles.isThere(folder)
          ? "the folder cannot be read: \(error)"
          : "there is no such folder: record a fixture, or mend the path")
    }
    return try paths.filter { file in
      let url = folder.appending(path: file)
      let attributes = try FileManager.default.attributesOfItem(
        atPath: url.path(percentEncoded: false))
      return attributes[.type] as? FileAttributeType != .typeDirectory
    }.sorted(by: Self.isBefore)
  }

  private static let documents: Set<String> = ["md", "txt", "json", "plist"]
  private static let models: Set<String> = ["xcdatamodeld", "xcdatamodel", "momd"]

  private func isIgnored(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    let name = parts.last ?? ""
    func pathExtension(_ name: Substring) -> String {
      name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }
    if parts.contains(where: { $0.hasPrefix(".") }) { return true }
    if Self.documents.contains(pathExtension(name)) { return true }
    if parts.dropLast().contains(where: { Self.models.contains(pathExtension($0)) }) { return true }
    return parts.indices.contains { ignored.contains(parts[...$0].joined(separator: "/")) }
  }

  private func isCompanion(_ path: String, among paths: Set<String>) -> Bool {
    FixtureFiles.suffixes.contains {
      path.hasSuffix($0) && paths.contains(String(path.dropLast($0.count)))
    }
  }

  /// 1.3 before 1.3.5 before 1.10.
  private static func isBefore(_ left: String, _ right: String) -> Bool {
    func key(_ path: String) -> [String] {
      var parts: [String] = []
      var wasDigit = false
      // Without the extension, which would come between 1.3 and 1.3.5.
      for character in path.lastIndex(of: ".").map({ path[..<$0] }) ?? path[...] {
        let isDigit = character.isASCII && character.isNumber
        if isDigit, wasDigit {
          parts[parts.count - 1].append(character)
        } else {
          parts.append(String(character))
        }
        wasDigit = isDigit
      }
      // Numbers as texts of one length.
      return parts.map {
        $0.first?.isNumber == true ? String(repeating: "0", count: max(0, 20 - $0.count)) + $0 : $0
      }
    }
    let (one, other) = (key(left), key(right))
    return one == other ? left < right : one.lexicographicallyPrecedes(other)
  }
}
