import Foundation
import Quire
import QuireModel
import QuireXcode

/// The files that `load` reads objects of: a folder of them, or one.
struct ObjectFiles {
  /// Objects, with the location of each for messages.
  struct Content {
    var objects: [ExportedObject] = []
    fileprivate var files: [(first: Int, path: String)] = []
    fileprivate var lines: [Int] = []

    /// “…/Artwork.csv, line 7”.
    func location(of index: Int) -> String {
      let path = files.last { $0.first <= index }?.path ?? ""
      return "\(path), line \(lines[index])"
    }

    func line(of index: Int) -> Int { lines[index] }

    /// The id of an object whose line has none: only for messages, that say the line anyway.
    fileprivate static func id(ofLine line: Int, _ entityName: String) -> String {
      "\(entityName), line \(line)"
    }

    /// Whether the line of an object has an id.
    func hasID(_ index: Int) -> Bool {
      objects[index].id != Self.id(ofLine: lines[index], objects[index].entityName)
    }

    /// - Throws: an error for the first link to an object that is in none of the files.
    func checkLinks(in model: ManagedObjectModel) throws {
      let ids = Set(objects.map(\.id))
      for (index, object) in objects.enumerated() {
        let entity = model.entity(named: object.entityName)
        for (name, value) in object.values.sorted(by: { $0.key < $1.key })
        where entity?.relationship(named: name) != nil {
          let destinations: [String] =
            switch value {
            case .text(let id): [id]
            case .list(let ids): ids
            default: []
            }
          guard let missing = destinations.first(where: { !ids.contains($0) }) else { continue }
          throw InputError(
            at: location(of: index),
            "\(name) refers to “\(missing.prefix(40))”, which is not an id in these files: add the "
              + "object, or drop such links by --drop-missing")
        }
      }
    }
  }

  private let files: [URL]
  /// The entity of files whose names do not say it: they are comma-separated values.
  private let entityName: String?

  /// - Throws: when there is no file, or when it is not clear which ones are meant.
  init(at source: URL, entityName: String?) throws {
    self.entityName = entityName
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source.path, isDirectory: &isFolder) else {
      throw InputError(
        "\(source.path): \(FileProblem.absence(of: source.path) ?? "it is not there")")
    }
    guard isFolder.boolValue else {
      files = [source]
      return
    }
    let all = try FileManager.default.contentsOfDirectory(
      at: source, includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }
    let kinds = ExportFormat.allCases.map { format in
      all.filter { $0.pathExtension.lowercased() == format.fileExtension }
    }.filter { !$0.isEmpty }
    guard let found = kinds.first else {
      throw InputError("\(source.path) has no files .jsonl or .csv")
    }
    guard kinds.count == 1 else {
      throw InputError(
        "\(source.path) has files .jsonl and .csv, which may have the same objects: move those away "
          + "that are not wanted")
    }
    files = found
  }

  func read(_ model: ManagedObjectModel, _ task: TaskProgress) throws -> Content {
    let total = try files.reduce(0) { count, file in
      count + (try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
    }
    var done = 0
    var content = Content()
    for file in files {
      content.files.append((content.objects.count, file.path))
      let bytes = try bytes(of: file)
      let reach = { try task.reach(done + $0, of: total) }
      if entityName != nil || ExportFormat(ofFile: file) == .csv {
        try readCSV(bytes, file, model, &content, reach)
      } else {
        try readJSON(bytes, file, model, &content, reach)
      }
      done += bytes.count
    }
    return content
  }

  /// The bytes of a file, which may be a pipe: `/dev/stdin`.
  private func bytes(of file: URL) throws -> Data {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    var bytes = Data()
    while let block = try handle.read(upToCount: 1 << 16), !block.isEmpty {
      bytes += block
      try Interruption.check()
    }
    return bytes
  }

  // MARK: JSON

  private func readJSON(
    _ bytes: Data, _ file: URL, _ model: ManagedObjectModel, _ content: inout Content,
    _ reach: (Int) throws -> Void
  ) throws {
    let decoder = JSONDecoder()
    var done = 0
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      done += line.count + 1
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { continue }
      try reach(done)
      do {
        let object = try decoder.decode(ExportedObject.self, from: line)
        let attributes = model.entity(named: object.entityName)?.attributes ?? []
        if attributes.contains(where: { $0.type == .decimal }),
          let digits = Self.longNumber(in: line)
        {
          throw InputError(
            at: "\(file.path), line \(number + 1)",
            "\(digits) has more digits than a number keeps, which are 38")
        }
        content.objects.append(object)
        content.lines.append(number + 1)
      } catch let error as DecodingError {
        throw InputError(at: "\(file.path), line \(number + 1)", Self.reason(error))
      }
    }
  }

  /// A number outside of texts that has more digits than a decimal keeps: the decoder rounds it.
  private static func longNumber(in line: Data) -> String? {
    var rest = line[...]
    while let first = rest.first {
      if first == UInt8(ascii: "\"") {
        var isEscaped = false
        rest.removeFirst()
        while let byte = rest.popFirst(), isEscaped || byte != UInt8(ascii: "\"") {
          isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        continue
      }
      let number = rest.prefix { $0 &- 0x30 < 10 || "+-.eE".utf8.contains($0) }
      if number.count > 38 {
        let digits = String(decoding: number, as: UTF8.self)
        if DecimalParts(text: digits) == nil { return digits }
      }
      rest.removeFirst(max(number.count, 1))
    }
    return nil
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .dataCorrupted(let context) where context.codingPath.isEmpty: "it is not a JSON object"
    case .typeMismatch(_, let context) where context.codingPath.isEmpty: "it is not a JSON object"
    case .dataCorrupted(let context): context.debugDescription
    case .keyNotFound(let key, _):
      "it has no \(key.stringValue): an object in JSON says its entity and an id, as "
        + #"{"entity":"Artist","id":"a1","name":"Yuko"}"#
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
    @unknown default: "\(error)"
    }
  }

  // MARK: CSV

  private func readCSV(
    _ bytes: Data, _ file: URL, _ model: ManagedObjectModel, _ content: inout Content,
    _ reach: (Int) throws -> Void
  ) throws {
    let name = entityName ?? file.deletingPathExtension().lastPathComponent
    let columns: CSVColumns
    do {
      columns = CSVColumns(of: try Tool.entity(named: name, of: model))
    } catch {
      throw InputError(
        "\(file.path): the name of a CSV file, or --entity, says whose objects it has, and \(error)"
      )
    }
    var reader = CSVReader(Array(bytes))
    do {
      guard let headings = try reader.next() else { return }
      let properties = try columns.properties(of: headings)
      let defaults = columns.defaults(besides: properties)
      while let fields = try reader.next() {
        let line = reader.recordLine
        content.objects.append(
          try columns.object(
            of: fields, properties, id: Content.id(ofLine: line, columns.entity.name),
            values: defaults))
        content.lines.append(line)
        try reach(reader.position)
      }
    } catch let mistake as CSVReader.Mistake {
      throw InputError("\(file.path), line \(mistake.line): \(mistake.reason)")
    } catch let mistake as CSVColumns.Mistake {
      throw InputError("\(file.path), line \(reader.recordLine): \(mistake.reason)")
    }
  }
}
