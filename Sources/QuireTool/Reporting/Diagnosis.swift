import Foundation
import Quire
import QuireStorage
import QuireXcode

/// A file or a name that the user gave and that is no good; made by the tool itself.
struct InputError: Error, CustomStringConvertible {
  let description: String
  /// Whether it says in which other input the mistake is, so that no store needs to be named.
  var namesLocation = false

  init(_ description: String) { self.description = description }

  /// - Parameter location: where the mistake is, as “list.csv, line 7”.
  init(at location: String, _ description: String) {
    self.description = "\(location): \(description)"
    namesLocation = true
  }
}

extension Tool {
  /// The message about an error for the user: what happened, where, and what to do.
  static func diagnosis(of error: any Error) -> String {
    switch error {
    case let error as PersistenceError:
      var text = error.message
      if let underlying = error.underlying {
        let cause = diagnosis(of: underlying)
        // Errors of `QuireStorage` name their file, so that the message about opening adds nothing.
        let isEnough = error.code == .persistentStoreOpen && cause.contains("/")
        text = isEnough ? cause : "\(text): \(cause)"
      }
      for line in lines(of: error.detailedErrors) { text += "\n  \(line)" }
      return text
    case let error as StorageError:
      return remedy(for: error).map { "\(error).\n\($0)" } ?? "\(error)"
    case let error as CocoaError:
      let path = error.filePath ?? error.url?.path
      // Of these Foundation says no more than that something could not be completed.
      let isVague = error.code == .fileWriteUnknown || error.code == .fileReadUnknown
      let cause = isVague ? error.underlying?.localizedDescription : nil
      return (path.map { "\($0): " } ?? "") + (cause ?? FileProblem.words(for: error))
    case is CancellationError: return "interrupted; nothing was changed"
    default: return "\(error)"
    }
  }

  /// A line for each thing that is wrong, with the objects where it is wrong with several.
  private static func lines(of errors: [PersistenceError]) -> [String] {
    var messages: [String] = []
    var objects: [String: [ManagedObjectID?]] = [:]
    for error in errors {
      if objects[error.message] == nil { messages.append(error.message) }
      objects[error.message, default: []].append(error.objectID)
    }
    return messages.map { message in
      let all = objects[message] ?? []
      guard all.count > 1 else { return message }
      // A temporary ID means nothing to a reader.
      let named = all.compactMap { $0 }.filter { !$0.isTemporaryID }.map(\.description)
      let names = named.prefix(objectLimit).joined(separator: ", ")
      let rest = named.count > objectLimit ? ", …" : ""
      return "\(message), in \(all.count.counting("object"))"
        + (names.isEmpty ? "" : ": \(names)\(rest)")
    }
  }

  private static let objectLimit = 5

  /// Calls a closure that works on a store; adds the path to an error that does not name the store.
  static func working<Result>(on store: URL, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as CancellationError {
      throw error
    } catch let error as InputError where error.namesLocation {
      throw error
    } catch {
      let text = diagnosis(of: error)
      throw InputError(text.contains(store.path) ? text : "\(store.path): \(text)")
    }
  }

  /// The remedy for an error of `QuireStorage`, where its text does not make that obvious.
  private static func remedy(for error: StorageError) -> String? {
    switch error {
    case .notAStore(let path, _) where FileKind(ofFileAt: path) == .sqlite:
      "It is a SQLite file. If Core Data wrote it, quire import makes a store of it."
    case .unsupportedFormat, .unsupportedFeature: "A newer quire reads it."
    case .damaged:
      "Go back to a sound copy of the store, or bring what is readable to a new one: quire salvage."
    case .logMissing: "If the log was moved or left behind by a copy, put it back beside the store."
    case .imagesMissing:
      "If that file was moved, removed or left behind by a copy, put it back beside the store. "
        + "Opened read-only, the store shows everything but these pages."
    case .logForeign: "Move that file away, and put the store's own log in its place."
    case .logDamaged, .logCutShort:
      "Go back to a sound copy of the store and its log, or bring what is readable to a new one: "
        + "quire salvage."
    case .locked(.readers): "Wait until it has ended, or end it."
    case .locked:
      "Stop that program first, or make a copy by quire backup and work with that. A copy of the "
        + "file alone may be half of the store."
    case .io(_, _, let code, _) where FileProblem.isPermission(code):
      "Permission is missing for it, or for a folder on the way: \(FileProblem.permissionAdvice)."
    default: nil
    }
  }
}
