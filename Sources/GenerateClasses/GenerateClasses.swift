import Foundation
import PackagePlugin

/// Writes the classes of each Xcode model in a target before it is compiled, by `quire generate`.
///
/// In the manifest of a package:
///
/// ```swift
/// .target(
///   name: "Gallery", dependencies: [.product(name: "Quire", package: "Quire")],
///   exclude: ["Gallery.xcdatamodeld"],
///   plugins: [.plugin(name: "GenerateClasses", package: "Quire")])
/// ```
///
/// The classes of `Gallery.xcdatamodeld` are those of its current version, and are written anew
/// when something in it has changed. They declare the model: there is nothing else to ship.
@main
struct GenerateClasses: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard target is any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "QuireTool")
    return try models(in: target.directoryURL).map { model in
      let name = "\(model.deletingPathExtension().lastPathComponent)Classes.swift"
      return .buildCommand(
        displayName: "Generating the classes of \(model.lastPathComponent)",
        executable: tool.url,
        arguments: [
          "generate", model.path(percentEncoded: false), "--to",
          context.pluginWorkDirectoryURL.path(percentEncoded: false), "--file", name, "--force",
        ],
        inputFiles: try files(in: model),
        outputFiles: [context.pluginWorkDirectoryURL.appending(path: name)])
    }
  }

  /// The models in a folder and the folders in it, in the order of their paths.
  private func models(in folder: URL) throws -> [URL] {
    var models: [URL] = []
    for item in try items(in: folder) {
      switch item.pathExtension {
      case "xcdatamodeld", "xcdatamodel": models.append(item)
      default: if isFolder(item) { models += try self.models(in: item) }
      }
    }
    return models
  }

  private func files(in folder: URL) throws -> [URL] {
    try items(in: folder).flatMap { isFolder($0) ? try files(in: $0) : [$0] }
  }

  private func items(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: [.isDirectoryKey]
    ).sorted { $0.path < $1.path }
  }

  private func isFolder(_ item: URL) -> Bool {
    (try? item.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
  }
}
