import Foundation

// `localizedDescription` of errors about files of Xcode is their own description.

extension XcodeModelError: LocalizedError {
  public var errorDescription: String? { description }
}

extension XcodeMappingError: LocalizedError {
  public var errorDescription: String? { description }
}

extension StringsFileError: LocalizedError {
  public var errorDescription: String? { description }
}
