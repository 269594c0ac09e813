import Foundation
import QuireModel

/// A model as Xcode saves it with all its versions: a `.xcdatamodeld` folder.
public struct XcodeModelHistory: Sendable {
  /// The name of the folder, without the extension.
  public let name: String
  /// The versions, the oldest first as far as names show it.
  ///
  /// Xcode names the first version like the folder and suggests the same name with a number for
  /// each later one. So these come first, by number, followed by versions with other names. Those
  /// with a version in them are in its order: `Model_sync_v9` is before `Model_search_v12`.
  /// Numbers within names count as numbers: 2.5.1 is before 2.10.
  public let versions: [XcodeModel]
  /// The versions that could not be loaded, in the same order: in the form that Xcode wrote before
  /// version 4.3, damaged, or inconsistent.
  ///
  /// One such version, of which perhaps no store exists any more, does not keep the others from
  /// being loaded. The error for a store that fits no version names them.
  public let unreadableVersions: [UnreadableVersion]
  /// The name of the version that Xcode compiles.
  public let currentName: String

  /// A version whose model could not be loaded.
  public struct UnreadableVersion: Sendable, Hashable {
    /// The name of the version.
    public var name: String
    /// Why it could not be loaded.
    public var error: XcodeModelError
  }

  /// Loads a `.xcdatamodeld` folder; a `.xcdatamodel` folder or a `contents` file is a single
  /// version.
  ///
  /// - Throws: when the folder cannot be read, has no version, or its current version cannot be
  ///   loaded. Others that cannot are in ``unreadableVersions``.
  public init(contentsOf url: URL) throws(XcodeModelError) {
    guard url.pathExtension == "xcdatamodeld" else {
      let model = try XcodeModel(contentsOf: url)
      (name, versions, currentName) = (model.name, [model], model.name)
      unreadableVersions = []
      return
    }
    let document = try XcodeVersionFolder(url)
    let names = document.names
    var versions: [XcodeModel] = []
    var unreadableVersions: [UnreadableVersion] = []
    for name in names {
      do throws(XcodeModelError) {
        versions.append(
          try document.version(named: name))
      } catch {
        guard name != document.currentName else { throw error }
        unreadableVersions.append(UnreadableVersion(name: name, error: error))
      }
    }
    self.unreadableVersions = unreadableVersions
    (name, self.versions, currentName) = (document.name, versions, document.currentName)
  }

  /// The same versions as a value of `QuireModel`, without the notes.
  public var versionedModel: VersionedModel {
    let versions = versions.map { VersionedModel.Version($0.name, $0.model) }
    guard var model = VersionedModel(name: name, versions: versions, current: currentName) else {
      preconditionFailure(
        "a history has versions, their names differ, and the current is among them")
    }
    model.unreadableVersions = unreadableVersions.map {
      VersionedModel.UnreadableVersion($0.name, reason: "\($0.error)")
    }
    return model
  }
}

extension VersionedModel {
  /// Loads a `.xcdatamodeld` folder.
  ///
  /// The current version is loaded now, and each other one when it is asked for: by a store that it
  /// wrote, or by ``VersionedModel/versions``. A folder that goes meanwhile has no other versions
  /// then. ``XcodeModelHistory`` loads all at once and reports what it did not understand.
  ///
  /// - Parameter noting: called with each remark on the current version, as ``XcodeModel/notes``
  ///   has them.
  /// - Throws: when the folder cannot be read, has no version, or its current version cannot be
  ///   loaded.
  public init(
    contentsOf url: URL, noting: (XcodeModelNote) -> Void = { _ in }
  ) throws(XcodeModelError) {
    guard url.pathExtension == "xcdatamodeld" else {
      let history = try XcodeModelHistory(contentsOf: url)
      history.versions.flatMap(\.notes).forEach(noting)
      self = history.versionedModel
      return
    }
    let document = try XcodeVersionFolder(url)
    let current = try document.version(named: document.currentName)
    current.notes.forEach(noting)
    self.init(
      name: document.name, versionNames: document.names,
      current: Version(document.currentName, current.model)
    ) { name in
      do throws(XcodeModelError) {
        return .success(try document.version(named: name).model)
      } catch {
        return .failure(UnreadableVersion.Cause("\(error)"))
      }
    }
  }
}

/// The versions in a `.xcdatamodeld` folder.
private struct XcodeVersionFolder: Sendable {
  let name: String
  /// In their order.
  let names: [String]
  let currentName: String
  private let url: URL

  init(_ url: URL) throws(XcodeModelError) {
    self.url = url
    let folderName = url.deletingPathExtension().lastPathComponent
    let names = XcodeVersionOrder(folderName).sorted(try Self.versionNames(in: url))
    guard let last = names.last else {
      throw XcodeModelError(
        file: url.path, reason: .notAModel("the folder has no version, no folder .xcdatamodel"))
    }
    let current = try Self.currentVersionName(in: url) ?? last
    guard names.contains(current) else {
      throw XcodeModelError(file: url.path, reason: .noSuchVersion(current, versions: names))
    }
    (name, self.names, currentName) = (folderName, names, current)
  }

  func version(named name: String) throws(XcodeModelError) -> XcodeModel {
    try XcodeModel(contentsOf: url.appendingPathComponent("\(name).xcdatamodel"))
  }

  private static func versionNames(in url: URL) throws(XcodeModelError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path)
        .filter { $0.hasSuffix(".xcdatamodel") }.map { String($0.dropLast(".xcdatamodel".count)) }
    } catch {
      throw XcodeModelError(file: url.path, reason: .unreadable(FileProblem.words(for: error)))
    }
  }

  /// The current version in the hidden file `.xccurrentversion`, which Xcode writes with the second
  /// version.
  private static func currentVersionName(in url: URL) throws(XcodeModelError) -> String? {
    let file = url.appendingPathComponent(".xccurrentversion")
    guard file.isExistingFolder != nil else { return nil }
    do {
      guard case .dictionary(let list) = try PropertyList(try Data(contentsOf: file)),
        let name = list["_XCCurrentVersionName"]?.text
      else { return nil }
      return name.hasSuffix(".xcdatamodel")
        ? String(name.dropLast(".xcdatamodel".count)) : name
    } catch {
      throw XcodeModelError(
        file: file.path, reason: .unreadable("it is not a property list"))
    }
  }
}
