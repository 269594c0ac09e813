import Foundation
import QuireModel

/// A mapping model that was read but not yet brought together with its models.
struct XcodeMappingFile {
  enum Content {
    case document(XcodeMappingDocument)
    case archive(MappingArchive)
  }

  let path: String
  let name: String
  let content: Content

  init(contentsOf url: URL) throws(XcodeMappingError) {
    let file = try Self.file(of: url)
    try self.init(Self.data(of: file), of: file)
  }

  /// The same, but for a document that is between other models, as the copies of its models show:
  /// these are found in its bytes. An application may have a hundred documents, and to read the XML
  /// of each takes longer than a migration.
  init?(
    contentsOf url: URL, unlessNotFrom source: XcodeModelOutline, to destination: XcodeModelOutline
  ) throws(XcodeMappingError) {
    let file = try Self.file(of: url)
    let data = try Self.data(of: file)
    for (name, outline) in [("sourcemodeldata", source), ("destinationmodeldata", destination)] {
      if let archive = XcodeMappingDocument.data(ofFirst: name, in: data),
        let copy = XcodeModelOutline(archived: archive), copy != outline
      {
        return nil
      }
    }
    try self.init(data, of: file)
  }

  private init(_ data: Data, of file: URL) throws(XcodeMappingError) {
    let folder = file.lastPathComponent == "xcmapping.xml" ? file.deletingLastPathComponent() : file
    name = folder.deletingPathExtension().lastPathComponent
    path = file.path
    if data.starts(with: BinaryPropertyList.magic) {
      content = .archive(try MappingArchive(data, file: file.path))
      return
    }
    let root: XcodeElement
    do {
      root = try XcodeDocument.root(of: data, file: file.path)
    } catch {
      guard case .malformed(let line, let column, let words) = error.reason else {
        throw XcodeMappingError(file: file.path, reason: .notAMapping("it is not XML"))
      }
      throw XcodeMappingError(
        file: file.path, reason: .malformed(line: line, column: column, words))
    }
    content =
      root.name == "plist"
      ? .archive(try MappingArchive(data, file: file.path))
      : .document(try XcodeMappingDocument(root, file: file.path))
  }

  private static func file(of url: URL) throws(XcodeMappingError) -> URL {
    func fail(_ reason: XcodeMappingError.Reason) -> XcodeMappingError {
      XcodeMappingError(file: url.path, reason: reason)
    }
    guard let isFolder = url.isExistingFolder else {
      throw fail(
        .unreadable(
          FileProblem.absence(of: url.path, "file or folder") ?? "there is no such file or folder"))
    }
    guard isFolder else { return url }
    let file = url.appendingPathComponent("xcmapping.xml")
    guard file.isExistingFolder == false else {
      throw fail(.notAMapping("the folder has no file called xcmapping.xml"))
    }
    return file
  }

  private static func data(of url: URL) throws(XcodeMappingError) -> Data {
    do {
      return try Data(contentsOf: url)
    } catch {
      throw XcodeMappingError(
        file: url.path, reason: .unreadable(FileProblem.words(for: error)))
    }
  }

  /// The shapes of the models that a document is between, by the copies in it.
  struct Outlines {
    let source: XcodeModelOutline?
    let destination: XcodeModelOutline?
    let isCompiled: Bool

    /// Whether the file itself says what its models have.
    var areThere: Bool { isCompiled || source != nil && destination != nil }

    /// Whether these are the models, as far as the file says it.
    func fit(_ source: XcodeModelOutline, _ destination: XcodeModelOutline) -> Bool {
      (self.source ?? source) == source && (self.destination ?? destination) == destination
    }
  }

  var outlines: Outlines {
    guard case .document(let document) = content else {
      return Outlines(source: nil, destination: nil, isCompiled: true)
    }
    return Outlines(
      source: document.sourceOutline, destination: document.destinationOutline, isCompiled: false)
  }
}

/// The names in a model: enough to distinguish its versions.
struct XcodeModelOutline: Equatable {
  struct Names: Equatable {
    var attributes: Set<String> = []
    var relationships: Set<String> = []
  }

  private var entities: [String: Names] = [:]

  init(_ model: ManagedObjectModel) {
    for entity in model.entities {
      entities[entity.name] = Names(
        attributes: Set(entity.declaration.attributes.map(\.name)),
        relationships: Set(entity.declaration.relationships.map(\.name)))
    }
  }

  /// Reads the copy of a model that Xcode's document has: an archive of the editor's own objects.
  ///
  /// - Returns: `nil` when it is another archive than this knows. Its classes are not published,
  ///   and it only serves to find documents.
  init?(archived data: Data) {
    do {
      let classes = try KeyedArchive(data).root().required("_xd_rootPackage")
        .required("XDBucketForClassesstorage")
      for (name, entity) in try classes.entries() {
        guard let entity else { return nil }
        var names = Names()
        for (key, property) in try entity.required("XDBucketForOwnedAttributesstorage").entries() {
          switch try property?.className() {
          case "XDPMAttribute": names.attributes.insert(key)
          case "XDPMRelationship": names.relationships.insert(key)
          default: break
          }
        }
        entities[name] = names
      }
    } catch {
      return nil
    }
  }
}
