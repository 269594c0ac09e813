import Foundation

// What `localizedDescription` says of errors about files of Xcode: what they say themselves.

extension XcodeModelError: LocalizedError {
  public var errorDescription: String? { description }
}

extension XcodeMappingError: LocalizedError {
  public var errorDescription: String? { description }
}

extension StringsFileError: LocalizedError {
  public var errorDescription: String? { description }
}
