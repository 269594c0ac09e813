import Foundation
import QuireSimulation

typealias TemporaryFolder = QuireSimulation.TemporaryFolder

extension TemporaryFolder {
  func file(_ name: String) -> URL { url.appending(path: name) }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> URL {
    let file = file(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file
  }

  @discardableResult
  func write(_ text: String, to name: String) throws -> URL {
    try write(Array(text.utf8), to: name)
  }
}
