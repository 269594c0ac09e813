import Foundation
public import QuireCoreData

public enum CellarError: Error, Equatable, Sendable {
  case notFound(NSManagedObjectID)
  case empty(NSManagedObjectID)
  case invalid(key: String)
  case wrongType(expected: String)
  case noModel
}

/// What happened, for tests and for support.
public final class Log: @unchecked Sendable {
  public static let shared = Log()

  private let lock = NSLock()
  private var lines: [String] = []

  public func record(_ line: String) {
    lock.lock()
    defer { lock.unlock() }
    lines.append(line)
  }

  public func take() -> [String] {
    lock.lock()
    defer { lock.unlock() }
    defer { lines = [] }
    return lines
  }
}
