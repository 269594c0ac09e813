import QuireStorage

/// Runs a call of the engine; its errors arrive as the object layer's.
func storage<Result>(_ body: () throws(StorageError) -> Result) throws(PersistenceError) -> Result {
  do {
    return try body()
  } catch {
    throw PersistenceError(.persistentStoreOperation, "the store cannot do this", underlying: error)
  }
}
