import Foundation
import QuireModel

/// A model as Xcode saves it: one version, in a `.xcdatamodel` folder.
///
/// Xcode's model editor writes XML into the file `contents` of that folder; a folder
/// `.xcdatamodeld` has one such folder per version and a note which is current
/// (``XcodeModelHistory``). The compiled forms `.mom` and `.momd` are not read: compiling needs a
/// Mac, and the source is what a project keeps.
///
/// The loader reads everything that Xcode writes, except what does not affect a store (positions on
/// the canvas, tools versions). Content that it does not know is ignored and listed in ``notes``,
/// so that models of a newer Xcode can be loaded. What would mean something else then is an error:
/// a type or a delete rule of no known name, a flag or a number that is none.
public struct XcodeModel: Sendable {
  /// The name of the version: that of its folder, without the extension.
  public let name: String
  /// The model itself.
  public let model: ManagedObjectModel
  /// Remarks on content that was not understood, or that was changed in reading.
  public let notes: [XcodeModelNote]
  /// What Xcode writes at each build, by the names of entities: `class` for a whole class,
  /// `category` for its properties. Nothing for entities whose code is written by hand.
  package let codeGeneration: [String: String]

  /// Loads a `.xcdatamodel` folder, or the `contents` file in one.
  public init(contentsOf url: URL) throws(XcodeModelError) {
    let contents = try Self.contents(of: url)
    let folder =
      contents.lastPathComponent == "contents" ? contents.deletingLastPathComponent() : url
    let data = try Self.data(of: contents)
    var reader = XcodeModelReader(file: contents.path)
    model = try reader.read(try XcodeDocument.root(of: data, file: contents.path))
    name = folder.deletingPathExtension().lastPathComponent
    notes = reader.notes
    codeGeneration = reader.codeGeneration
  }

  /// The XML file of a model, which need not be there.
  private static func contents(of url: URL) throws(XcodeModelError) -> URL {
    func fail(_ reason: XcodeModelError.Reason) -> XcodeModelError {
      XcodeModelError(file: url.path, reason: reason)
    }
    guard let isFolder = url.isExistingFolder else {
      throw fail(
        .unreadable(
          FileProblem.absence(of: url.path, "file or folder") ?? "there is no such file or folder"))
    }
    switch url.pathExtension {
    case "mom", "momd":
      throw fail(.notAModel("it is a compiled model; the project has its source, .xcdatamodeld"))
    case "xcdatamodeld":
      throw fail(.notAModel("it holds several versions; load it as a versioned model"))
    default: break
    }
    guard isFolder else { return url }
    let contents = url.appendingPathComponent("contents")
    guard contents.isExistingFolder == nil else { return contents }
    guard url.appendingPathComponent("elements").isExistingFolder == nil else {
      throw fail(.binaryForm)
    }
    throw fail(.notAModel("the folder has no file called contents"))
  }

  private static func data(of url: URL) throws(XcodeModelError) -> Data {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw XcodeModelError(file: url.path, reason: .unreadable(FileProblem.words(for: error)))
    }
    guard !data.isEmpty else {
      throw XcodeModelError(file: url.path, reason: .notAModel("there is nothing in it"))
    }
    if data.starts(with: Array("bplist".utf8)) {
      throw XcodeModelError(file: url.path, reason: .binaryForm)
    }
    return data
  }
}

extension ManagedObjectModel {
  /// Loads a `.xcdatamodel` folder, or the `contents` file in one.
  ///
  /// - Parameter noting: called with each remark on content that was not understood, or that was
  ///   changed in reading; ``XcodeModel/notes`` has the same.
  /// - Throws: when the model cannot be read, or what it says cannot be told: a type or a delete
  ///   rule of no known name, a flag that is neither YES nor NO.
  public convenience init(
    contentsOf url: URL, noting: (XcodeModelNote) -> Void = { _ in }
  ) throws(XcodeModelError) {
    let loaded = try XcodeModel(contentsOf: url)
    loaded.notes.forEach(noting)
    do {
      try self.init(loaded.model.declaration)
    } catch {
      throw XcodeModelError(file: url.path, reason: .inconsistent(error))
    }
  }
}

extension URL {
  /// Whether there is a folder at the path; `nil` when there is nothing.
  var isExistingFolder: Bool? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
    return isFolder.boolValue
  }
}
