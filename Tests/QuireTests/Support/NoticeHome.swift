import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension GotchaHome {
  /// Calls `body` with two contexts of one store: in a file of two coordinators, otherwise of one.
  func withTwoContexts(
    _ body: (ManagedObjectContext, ManagedObjectContext) throws -> Void
  ) throws {
    switch self {
    case .memory, .elsewhere:
      try withContext { try body($0, SmallGallery.sibling(of: $0)) }
    case .file:
      try withTemporaryFolder { folder in
        let url = folder.appending(path: "gallery.quire")
        let one = try Self.context(of: Self.coordinator(at: url))
        let two = try Self.context(of: Self.coordinator(at: url))
        try body(one, two)
      }
    }
  }

  static func coordinator(at url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try coordinator.addPersistentStore(type: .quire, at: url)
    return coordinator
  }
}

/// Notes what a context posts.
final class NoticeBook {
  var notices: [ContextNotice] = []
  private var observation: ContextObservation?

  init(_ context: ManagedObjectContext, _ kinds: ContextNotice.Kind...) {
    observation = context.observe(kinds.isEmpty ? Set(ContextNotice.Kind.allCases) : Set(kinds)) {
      [unowned self] in notices.append($0)
    }
  }

  func take() -> [ContextNotice] {
    defer { notices = [] }
    return notices
  }

  func close() { observation = nil }
}
