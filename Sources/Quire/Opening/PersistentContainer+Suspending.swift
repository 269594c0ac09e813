import QuireStorage

// A process that the system suspends, as it does apps, must not hold locks of files meanwhile:
// where others can use the files, it is ended for it.
extension PersistentContainer {
  /// Ends what this process does to the container's stores, so that it holds no lock of them, and
  /// waits for none, until ``resume()``.
  ///
  /// Waits for saves under way. From then on saves throw
  /// ``PersistenceError/Code/persistentStoreSave``, and changes stay unsaved in their contexts;
  /// what is saved can be read. Stores that are only read, or in memory, have no locks.
  ///
  /// ```swift
  /// // In UIKit, for a store in a folder that the app shares with its extensions:
  /// func applicationDidEnterBackground(_ application: UIApplication) { try? container.suspend() }
  /// func applicationWillEnterForeground(_ application: UIApplication) { container.resume() }
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/persistentStoreOperation`` for a store that is written by
  ///   this process alone, as that is locked while it is open
  ///   (``PersistentStoreOptions/isShared``); an error of the disk. The other stores are suspended
  ///   all the same.
  public final func suspend() throws {
    try persistentStoreCoordinator.suspend()
  }

  /// The container's stores can be saved to again after ``suspend()``.
  public final func resume() { persistentStoreCoordinator.resume() }
}

extension PersistentStoreCoordinator {
  /// See ``PersistentContainer/suspend()``.
  public final func suspend() throws {
    var failure: (any Error)?
    for store in persistentStores {
      do throws(StorageError) {
        try store.pages.suspend()
      } catch {
        failure =
          failure
          ?? PersistenceError(
            .persistentStoreOperation, "\(store.pages.described) cannot be suspended",
            underlying: error)
      }
    }
    if let failure { throw failure }
  }

  /// See ``PersistentContainer/resume()``.
  public final func resume() {
    for store in persistentStores { store.pages.resume() }
  }
}
