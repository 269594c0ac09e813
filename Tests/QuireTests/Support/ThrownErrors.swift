import Quire

/// The error of Quire's that `body` throws; `nil` where it throws none, or another one.
func persistenceError(_ body: () throws -> Void) -> PersistenceError? {
  do {
    try body()
    return nil
  } catch {
    return error as? PersistenceError
  }
}
