import QuireModel

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
    package var classes: [String] { entities.compactMap(\.managedObjectClassName) }
    package var entities: [Entity]
    /// What Xcode writes at each build, by the names of entities: `class` or `category`.
    package var codeGeneration: [String: String]

    package init(path: String, entities: [Entity], codeGeneration: [String: String] = [:]) {
      self.path = path
      self.entities = entities
      self.codeGeneration = codeGeneration
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
  /// Paths of files that Xcode writes at each build, and that are files from now on.
  private var newFiles: Set<String> = []

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
    let modules = SourceModules(self.files)
    addXcodeClasses(of: models, modules)
    let classes = ManagedClasses(self.files)
    let relationships = Relationships(self.files)
    for index in self.files.indices {
      self.files[index].portImports()
      self.files[index].portAttributes(classes)
      self.files[index].portProperties(classes)
      self.files[index].portAccessors(relationships)
      self.files[index].portExpressions(classes)
      self.files[index].portArgumentParameters()
      self.files[index].portModelNames()
      self.files[index].portRequestCasts()
      self.files[index].portHistoryTokens()
      self.files[index].portEntityNames()
      self.files[index].portValidation(classes)
      self.files[index].portInitializers(classes)
      self.files[index].listAbsences(classes)
      if models.isEmpty { self.files[index].listModels() }
    }
    listClasses(of: models, classes)
    answerKeys(classes)
    moveMembers(classes)
    listManifests(modules, models)
    collectChanges()
    addNames(modules)
    changes.sort { $0.path < $1.path }
    findings = PortFinding.merged(self.files.flatMap(\.findings) + findings)
  }

  /// Adds the classes that Xcode writes at each build, beside the files of the model's module.
  private mutating func addXcodeClasses(of models: [Model], _ modules: SourceModules) {
    for model in models {
      var folder = modules.folder(of: model.path)
      if !modules.isKnown(folder) {
        folder = model.path.lastIndex(of: "/").map { String(model.path[...$0]) } ?? ""
      }
      let classes = XcodeClasses(
        model: model, modules: modules, declared: DeclaredMembers(files))
      for (path, text) in classes.files(in: folder) {
        if files.contains(where: { $0.path == path }) { continue }
        guard let file = try? PortedFile(path: path, bytes: Array(text.utf8)) else { continue }
        newFiles.insert(path)
        files.append(file)
      }
    }
    files.sort { $0.path < $1.path }
  }

  private mutating func collectChanges() {
    for (index, file) in files.enumerated() where !file.edits.isEmpty {
      let after = file.edits.applied(to: file.source)
      if after == file.source.bytes { continue }
      let isEmpty = filesWithRemovals.contains(index) && Self.hasNothingButImports(after)
      let before = newFiles.contains(file.path) ? nil : file.source.bytes
      if before == nil, isEmpty { continue }
      changes.append(Change(path: file.path, before: before, after: isEmpty ? nil : after))
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
    where source.isWord(index, "NSPersistentContainer") && source.isPunctuation(index + 1, "(")
      && token(labelled: "managedObjectModel", in: index + 1) == nil
    {
      record(
        "NSPersistentContainer(…)", atToken: index,
        "no .xcdatamodeld is in this folder: add it to the target as a resource that is copied")
    }
  }
}
