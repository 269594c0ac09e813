#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TemporaryFolder {
  package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }
}
