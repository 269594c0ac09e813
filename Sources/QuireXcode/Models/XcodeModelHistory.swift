import Foundation
import QuireModel

/// A model as Xcode saves it with all its versions: a `.xcdatamodeld` folder.
public struct XcodeModelHistory: Sendable {
  /// The name of the folder, without the extension.
  public let name: String
  /// The versions, the oldest first as far as names show it.
  ///
  /// Xcode names the first version like the folder and suggests the same name with a number for
  /// each later one. So these come first, by number, followed by versions with other names. Numbers
  /// within names count as numbers: 2.5.1 is before 2.10.
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
    let folderName = url.deletingPathExtension().lastPathComponent
    let names = try Self.versionNames(in: url).sorted {
      XcodeVersionOrder(folderName).isBefore($0, $1)
    }
    guard let last = names.last else {
      throw XcodeModelError(
        file: url.path, reason: .notAModel("the folder has no version, no folder .xcdatamodel"))
    }
    let current = try Self.currentVersionName(in: url) ?? last
    guard names.contains(current) else {
      throw XcodeModelError(file: url.path, reason: .noSuchVersion(current, versions: names))
    }
    var versions: [XcodeModel] = []
    var unreadableVersions: [UnreadableVersion] = []
    for name in names {
      do throws(XcodeModelError) {
        versions.append(
          try XcodeModel(contentsOf: url.appendingPathComponent("\(name).xcdatamodel")))
      } catch {
        guard name != current else { throw error }
        unreadableVersions.append(UnreadableVersion(name: name, error: error))
      }
    }
    self.unreadableVersions = unreadableVersions
    (self.name, self.versions, currentName) = (folderName, versions, current)
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

  private static func versionNames(in url: URL) throws(XcodeModelError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path)
        .filter { $0.hasSuffix(".xcdatamodel") }.map { String($0.dropLast(".xcdatamodel".count)) }
    } catch {
      throw XcodeModelError(file: url.path, reason: .unreadable(error.localizedDescription))
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

extension VersionedModel {
  /// Loads a `.xcdatamodeld` folder with all its versions.
  ///
  /// ``XcodeModelHistory`` does the same and reports what it did not understand.
  public init(contentsOf url: URL) throws(XcodeModelError) {
    self = try XcodeModelHistory(contentsOf: url).versionedModel
  }
}

/// The order of version names.
struct XcodeVersionOrder {
  private let modelName: String

  init(_ modelName: String) { self.modelName = modelName }

  func isBefore(_ left: String, _ right: String) -> Bool {
    let (leftRank, rightRank) = (rank(left), rank(right))
    if leftRank != rightRank { return leftRank < rightRank }
    let (leftParts, rightParts) = (Self.parts(left), Self.parts(right))
    for (one, other) in zip(leftParts, rightParts) where one != other {
      return Self.isBefore(one, other)
    }
    if leftParts.count != rightParts.count { return leftParts.count < rightParts.count }
    return left < right
  }

  private func rank(_ name: String) -> Int {
    if name == modelName { return 0 }
    return name.hasPrefix(modelName + " ") ? 1 : 2
  }

  /// Runs of digits and of other characters, in turn.
  private static func parts(_ name: String) -> [String] {
    var result: [String] = []
    var isDigits: Bool?
    for character in name.lowercased() {
      let isDigit = character.isASCII && character.isNumber
      if isDigit == isDigits {
        result[result.count - 1].append(character)
      } else {
        result.append(String(character))
        isDigits = isDigit
      }
    }
    return result
  }

  private static func isBefore(_ one: String, _ other: String) -> Bool {
    let (first, second) = (one.drop { $0 == "0" }, other.drop { $0 == "0" })
    let areNumbers = (one + other).allSatisfy { $0.isASCII && $0.isNumber }
    if areNumbers, first.count != second.count { return first.count < second.count }
    return areNumbers ? first < second : one < other
  }
}
