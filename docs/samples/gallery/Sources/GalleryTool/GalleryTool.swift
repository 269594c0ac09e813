import Foundation
import Gallery

/// The gallery on the command line.
@main enum GalleryTool {
  static func main() {
    do {
      let invocation = try Invocation(Array(CommandLine.arguments.dropFirst()))
      // Before the store is opened, so that a mistake makes no file.
      let command = try Command(invocation)
      let catalogue = try Catalogue(at: invocation.store)
      try command.run(on: catalogue)
      try catalogue.close()
    } catch {
      FileHandle.standardError.write(Data("gallery: \(error)\n".utf8))
      exit(error is Usage ? 2 : 1)
    }
  }
}
