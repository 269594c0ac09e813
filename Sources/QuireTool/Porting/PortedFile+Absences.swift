extension PortedFile {
  /// What Core Data or a framework around it has, and `QuireCoreData` has not.
  private static let absences: [String: String] = {
    let cloud = "there is no CloudKit: use NSPersistentContainer"
    let spotlight = "there is no Spotlight: remove it, or index in an observer of saves"
    let binding = "there are no bindings: follow NSFetchedResultsController or notifications"
    let document = "there are no documents: open a NSPersistentContainer in the document"
    return [
      "NSPersistentCloudKitContainer": cloud, "NSPersistentCloudKitContainerOptions": cloud,
      "NSPersistentCloudKitContainerEvent": cloud, "NSCoreDataCoreSpotlightDelegate": spotlight,
      "NSArrayController": binding, "NSObjectController": binding, "NSTreeController": binding,
      "NSPersistentDocument": document, "UIManagedDocument": document,
      "NSDiffableDataSourceSnapshotReference":
        "write the delegate's other methods, or make the snapshot of the controller's sections",
      "NSBinaryStoreType": "there are stores in files and in memory: use NSSQLiteStoreType",
      "NSXMLStoreType": "there are stores in files and in memory: use NSSQLiteStoreType",
      "NSAtomicStore": "subclass NSIncrementalStore: it reads its file in loadMetadata()",
      "NSAtomicStoreCacheNode": "subclass NSIncrementalStore: it reads its file in loadMetadata()",
      "managedObjectHandler":
        "an inserting handler is given no objects: use dictionaries, dictionaryHandler:",
      "FetchedResults": "SwiftUI does not know the objects: follow NSFetchedResultsController",
      "_kvcKeyPathString": "there are no key paths of Objective-C: write the path as text",
      "keyPathsForValuesAffectingValue": "there is no KVO: say what changed where it changes",
    ]
  }()

  private static let wrappers: Set<String> = ["FetchRequest", "SectionedFetchRequest"]

  /// Lists what no rewriting replaces.
  mutating func listAbsences(_ classes: ManagedClasses) {
    guard usesCoreData else { return }
    for index in source.tokens.indices where source.tokens[index].kind == .identifier {
      let word = source.text(index)
      if let remedy = Self.absences[word] {
        record(word, atToken: index, remedy)
      } else if Self.wrappers.contains(word), source.isPunctuation(index - 1, "@") {
        record(
          "@\(word)", atToken: index,
          "SwiftUI does not know the objects: follow NSFetchedResultsController in a model object")
      } else if word == "NSManaged", source.isPunctuation(index - 1, "@"), !isOfDeclaration(index) {
        record(
          "@NSManaged", atToken: index,
          "write @Managed; the command does not look into classes within functions")
      } else if word.hasPrefix("keyPathsForValuesAffecting") {
        record(word, atToken: index, "there is no KVO: say what changed where it changes")
      } else if word == "objectWillChange", source.isPunctuation(index - 1, "."),
        !source.isWord(index - 2, "self")
      {
        record(
          "objectWillChange", atToken: index,
          "if it is a managed object's: there is no Combine, observe "
            + "NSManagedObjectContextObjectsDidChange")
      } else if source.isPunctuation(index + 1, "(") {
        listObserving(index, word)
      }
    }
    listHooks(classes)
  }

  /// Whether a token is in an attribute of a declaration that was found.
  private func isOfDeclaration(_ index: Int) -> Bool {
    declarations.contains { $0.attributes.contains { $0.tokens.contains(index) } }
  }

  /// Lists calls that observe objects by key.
  private mutating func listObserving(_ index: Int, _ word: String) {
    guard let first = source.significant(from: index + 2) else { return }
    let next = source.significant(from: first + 1)
    switch word {
    case "observe" where source.isPunctuation(first, "\\"):
      record(
        "observe(\\…)", atToken: index,
        "if it observes a managed object: there is no KVO, observe "
          + "NSManagedObjectContextObjectsDidChange")
    case "publisher" where source.isWord(first, "for") && source.isPunctuation(next, ":"):
      guard let value = next.flatMap({ source.significant(from: $0 + 1) }),
        source.isPunctuation(value, "\\")
      else { return }
      record(
        "publisher(for: \\…)", atToken: index,
        "if it observes a managed object: there is no KVO, observe "
          + "NSManagedObjectContextObjectsDidChange")
    case "addObserver" where source.isWord(first, "forName"):
      listMainQueue(index)
    case "addObserver", "removeObserver":
      let close = source.partners[index + 1]
      guard (first..<close).contains(where: { source.isWord($0, "forKeyPath") }) else { return }
      record(
        "\(word)(…forKeyPath:…)", atToken: index,
        "if it observes a managed object: there is no KVO, observe "
          + "NSManagedObjectContextObjectsDidChange")
    default: break
    }
  }

  /// Lists observers that wait for the main queue, which Foundation serves on Apple's platforms.
  private mutating func listMainQueue(_ index: Int) {
    guard let queue = token(labelled: "queue", in: index + 1),
      source.compactText(queue..<source.partners[index + 1]).hasPrefix(".main"),
      let name = token(labelled: "forName", in: index + 1),
      ["NSManagedObject", "NSPersistent", ".NSManagedObject", ".NSPersistent"].contains(where: {
        source.compactText(name..<queue).hasPrefix($0)
      })
    else { return }
    record(
      "addObserver(…queue: .main)", atToken: index,
      "write queue: nil, as contexts of the main queue post there in any case: a poster that "
        + "waits for the main queue waits for ever where no run loop serves it")
  }

  /// Lists overrides in extensions that cannot be moved: a class of Swift alone has none there.
  private mutating func listHooks(_ classes: ManagedClasses) {
    for declaration in declarations
    where isOverriddenInitializer(declaration, with: "persistentStoreCoordinator") {
      record(
        "override init(persistentStoreCoordinator:…)", atToken: declaration.keyword,
        "write required init, without override: stores are made by it")
    }
    for declaration in declarations where isHook(declaration, classes) {
      if let reason = reasonNotToMove(declaration, classes) {
        record("override \(declaration.name) in an extension", atToken: declaration.keyword, reason)
      }
    }
    for declaration in declarations
    where declaration.attribute("NSManaged") != nil && declaration.kind == .property {
      if let reason = reasonNotToMove(declaration, classes),
        !isComputed(declaration, classes)
      {
        record(
          "@NSManaged var \(declaration.name) in an extension", atToken: declaration.keyword, reason
        )
      }
    }
  }

  private func isOverriddenInitializer(
    _ declaration: SwiftDeclaration, with label: String
  ) -> Bool {
    guard declaration.kind == .initializer, let (open, close) = declaration.parameters else {
      return false
    }
    return (open..<close).contains { source.isWord($0, label) }
      && declaration.modifiers.contains { source.isWord($0, "override") }
  }

  /// Whether a declaration is an override in an extension of a class of managed objects.
  func isHook(_ declaration: SwiftDeclaration, _ classes: ManagedClasses) -> Bool {
    guard let parent = declaration.parent, declarations[parent].kind == .extension,
      declaration.modifiers.contains(where: { source.isWord($0, "override") }),
      declaration.braces != nil, classes.isManaged(declarations[parent], in: self)
    else { return false }
    return [.function, .property, .initializer].contains(declaration.kind)
  }
}
