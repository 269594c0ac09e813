import Foundation
import Quire

/// What an application's store has thrown.
struct StoreFailure: Error, CustomStringConvertible {
  let error: any Error
  var description: String { "\(error)" }
}

extension CocoaError {
  /// Whether a store says by an error that rows have other versions than a save expects.
  static func isConflict(_ error: any Error) -> Bool {
    let code = (error as? CocoaError)?.errorCode
    return code == NSManagedObjectMergeError || code == NSPersistentStoreSaveConflictsError
  }

  /// Whether a store says by an error that a row does not exist.
  static func isMissingRow(_ error: any Error) -> Bool {
    let error = (error as? StoreFailure)?.error ?? error
    return (error as? CocoaError)?.errorCode == NSManagedObjectReferentialIntegrityError
      || (error as? PersistenceError)?.code == .managedObjectReferentialIntegrity
  }
}

extension UUID {
  /// The same UUID for the same text in every run. Part of IDs that programs keep, so it never
  /// changes.
  init(digestOf text: String) {
    var (high, low): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x84222325_CBF29CE4)
    for byte in text.utf8 {
      high = (high ^ UInt64(byte)) &* 0x100_0000_01B3
      low = (low ^ UInt64(byte) ^ high >> 29) &* 0x100_0000_01B3
    }
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: bytes)
  }
}
