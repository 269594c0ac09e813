/// One state of each of some stores.
struct StoreViews {
  /// Retained, so that no other session can get the address of one that ended.
  private let sessions: [StoreSession]
  private var views: [ObjectIdentifier: StoreView] = [:]

  /// - Parameter view: the state of a store; `nil` to leave it out.
  init(_ sessions: [StoreSession], _ view: (StoreSession) throws -> StoreView?) rethrows {
    self.sessions = sessions
    for session in sessions { views[ObjectIdentifier(session)] = try view(session) }
  }

  subscript(session: StoreSession) -> StoreView? { views[ObjectIdentifier(session)] }

  /// The row of an object; `nil` when it has none in that state.
  func row(of object: ManagedObject) throws -> Row? {
    try object.session.flatMap { self[$0] }?.row(object.reference)
  }

  func contain(_ object: ManagedObject) throws -> Bool {
    try object.session.flatMap { self[$0] }?.contains(object.reference) ?? false
  }
}
