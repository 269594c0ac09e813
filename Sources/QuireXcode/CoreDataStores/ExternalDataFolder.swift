import Foundation

/// Values that Core Data keeps in files of their own, in a hidden folder beside the store.
///
/// For an attribute that allows external storage the column holds a byte that says where the value
/// is: 1, then the value itself; or 2, then the name of a file, which is a UUID.
struct ExternalDataFolder {
  enum Value: Equatable {
    case data(Data)
    /// The path of a file that should hold the value and cannot be read.
    case missing(String)
    /// The bytes name no file; they are not what Core Data writes.
    case unknown
  }

  private let folder: URL

  init(ofStore url: URL) {
    let name = url.deletingPathExtension().lastPathComponent
    folder = url.deletingLastPathComponent()
      .appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA", isDirectory: true)
  }

  func value(_ stored: Data) -> Value {
    switch stored.first {
    case 1: return .data(Data(stored.dropFirst()))
    case 2:
      // The name ends with a zero, as a C string does. Nothing but a UUID is let into a path.
      let bytes = stored.dropFirst().prefix { $0 != 0 }
      guard let name = String(validating: bytes, as: UTF8.self), UUID(uuidString: name) != nil
      else {
        return .unknown
      }
      let file = folder.appendingPathComponent(name)
      guard let data = try? Data(contentsOf: file) else { return .missing(file.path) }
      return .data(data)
    case nil: return .data(Data())
    default: return .unknown
    }
  }
}
