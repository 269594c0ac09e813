/// Gets to know which properties of a context's objects the program reads.
protocol AccessRecorder: AnyObject {
  /// Called before a property is read, also when the library reads it for the program.
  func recordAccess(to slot: Int, of object: ManagedObject)
}

extension ManagedObject {
  /// Records that a property is read. One comparison where nothing is recorded; a clean object's
  /// attributes and references, which are read most often, have a way of their own there, without
  /// it.
  final func recordAccess(to slot: Int) {
    if ofArena({ $0.recordsAccess }) { context?.accessRecorder?.recordAccess(to: slot, of: self) }
  }
}
