/// The port of a folder of Swift files from Core Data to `QuireCoreData`, which has Core Data's
/// names above Quire.
///
/// Files are cut into tokens and looked through for declarations. Rules then make edits: bytes that
/// others replace. What no rule touches keeps its bytes, with its format and its comments, and text
/// and comments are never changed. What a rule cannot change is a finding, for a person to look at.
///
/// Nothing is read or written here: files come as bytes and go as bytes. Porting what was ported
/// changes nothing.
package struct FolderPort {
  /// A file that changes.
  package struct Change: Equatable, Sendable {
    /// From the folder on.
    package var path: String
    /// `nil` for a file that is new.
    package var before: [UInt8]?
    /// `nil` for a file that goes, as it has nothing left but imports and comments.
    package var after: [UInt8]?
  }

  /// A model that is in the folder.
  package struct Model: Equatable, Sendable {
    /// From the folder on.
    package var path: String
    /// Names of classes as the model has them.
    package var classes: [String]

    package init(path: String, classes: [String]) {
      self.path = path
      self.classes = classes
    }
  }

  /// A file that cannot be taken apart, and is left as it is.
  package struct Failure: Equatable, Sendable {
    package var path: String
    package var reason: String
  }

  /// In the order of their paths.
  package internal(set) var changes: [Change] = []
  package internal(set) var findings: [PortFinding] = []
  package private(set) var failures: [Failure] = []

  var files: [PortedFile] = []
  /// Files that members were moved out of.
  var filesWithRemovals: Set<Int> = []

  /// - Parameters:
  ///   - files: the folder's Swift files, with their paths from the folder on.
  ///   - models: the models that were found in the folder, with the classes of their entities.
  package init(_ files: [(path: String, bytes: [UInt8])], models: [Model] = []) {
    for (path, bytes) in files.sorted(by: { $0.path < $1.path }) {
      do throws(SourceFailure) {
        if String(validating: bytes, as: UTF8.self) == nil {
          throw SourceFailure(line: 1, reason: "the file is not in UTF-8")
        }
        self.files.append(try PortedFile(path: path, bytes: bytes))
      } catch {
        failures.append(Failure(path: path, reason: "\(error)"))
      }
    }
    let classes = ManagedClasses(self.files)
    let relationships = Relationships(self.files)
    for index in self.files.indices {
      self.files[index].portImports()
      self.files[index].portAttributes(classes)
      self.files[index].portProperties(classes)
      self.files[index].portAccessors(relationships)
      self.files[index].portExpressions(classes)
      self.files[index].portValidation(classes)
      self.files[index].listAbsences(classes)
      if models.isEmpty { self.files[index].listModels() }
    }
    listClasses(of: models, classes)
    moveMembers(classes)
    collectChanges()
    addNames()
    changes.sort { $0.path < $1.path }
    findings = PortFinding.merged(self.files.flatMap(\.findings) + findings)
  }

  private mutating func collectChanges() {
    for (index, file) in files.enumerated() where !file.edits.isEmpty {
      let after = file.edits.applied(to: file.source)
      if after == file.source.bytes { continue }
      let isEmpty = filesWithRemovals.contains(index) && Self.hasNothingButImports(after)
      changes.append(
        Change(path: file.path, before: file.source.bytes, after: isEmpty ? nil : after))
    }
  }

  private static func hasNothingButImports(_ bytes: [UInt8]) -> Bool {
    guard let source = try? SwiftSource(bytes) else { return false }
    let imports = DeclarationParser.declarations(of: source).filter { $0.kind == .import }
    return source.tokens.indices.allSatisfy { index in
      source.tokens[index].isTrivia || imports.contains { $0.tokens.contains(index) }
    }
  }

  /// Findings whose lines are those of the files after the changes.
  package var findingsAfterChanges: [PortFinding] {
    let changed = Dictionary(
      changes.compactMap { change -> (String, (before: [UInt8], after: [UInt8]))? in
        guard let before = change.before, let after = change.after else { return nil }
        return (change.path, (before, after))
      }, uniquingKeysWith: { $1 })
    return findings.map { finding in
      guard let (before, after) = changed[finding.file] else { return finding }
      var finding = finding
      finding.lines = UnifiedDiff.lines(finding.lines, from: before, to: after)
      return finding
    }
  }

  /// Lists classes of the models' entities that no file declares.
  private mutating func listClasses(of models: [Model], _ classes: ManagedClasses) {
    let declared = Set(classes.names.compactMap { $0.split(separator: ".").last })
    for model in models {
      for name in model.classes {
        guard let last = name.split(separator: ".").last, last != "NSManagedObject",
          !declared.contains(last)
        else { continue }
        findings.append(
          PortFinding(
            file: model.path, lines: [], what: "class \(last)",
            remedy: "no file declares it. If Xcode writes it at each build, choose Codegen "
              + "Manual/None and Create NSManagedObject Subclass, and port again"))
      }
    }
  }
}

extension PortedFile {
  /// Lists where a model is loaded.
  fileprivate mutating func listModels() {
    guard usesCoreData else { return }
    for index in source.tokens.indices
    where source.isWord(index, "NSPersistentContainer") && source.isPunctuation(index + 1, "(") {
      record(
        "NSPersistentContainer(…)", atToken: index,
        "no .xcdatamodeld is in this folder: add it to the target as a resource that is copied")
    }
  }
}
