extension FolderPort {
  /// Lists what a package has to say otherwise: on what its targets depend, and that models are
  /// copied as they are.
  mutating func listManifests(_ modules: SourceModules, _ models: [Model]) {
    for (base, targets) in modules.manifests.sorted(by: { $0.key < $1.key }) {
      guard let index = files.firstIndex(where: { $0.path == base + "Package.swift" }) else {
        continue
      }
      listTargets(targets, modules, in: index)
      portResources(targets, models, in: index)
    }
  }

  private mutating func listTargets(
    _ targets: [SourceModules.Target], _ modules: SourceModules, in index: Int
  ) {
    let manifest = files[index]
    let isSaid = manifest.source.tokens.indices.contains {
      manifest.plainText($0) == "QuireCoreData"
    }
    if isSaid { return }
    for target in targets {
      let isUser = files.contains {
        $0.usesCoreData && !$0.isManifest && modules.folder(of: $0.path) == target.folder
      }
      guard isUser else { continue }
      files[index].record(
        "the dependencies of \(target.name)", atToken: target.call.lowerBound,
        "add .product(name: \"QuireCoreData\", package: …), and the package to those of this one")
    }
  }

  /// Copies models as they are: what is processed would lose the folders that a model is made of.
  private mutating func portResources(
    _ targets: [SourceModules.Target], _ models: [Model], in index: Int
  ) {
    let source = files[index].source
    for target in targets {
      let call = target.call
      for token in call where source.isWord(token, "process") {
        guard source.isPunctuation(source.significant(before: token), "."),
          source.isPunctuation(token + 1, "("),
          let text = source.significant(from: token + 2),
          let path = files[index].plainText(text)
        else { continue }
        let folder = target.folder + path
        let inside = models.filter { $0.path == folder || $0.path.hasPrefix(folder + "/") }
        guard let model = inside.first else { continue }
        if model.path == folder {
          files[index].edits.replace(source.tokens[token].range, with: "copy")
        } else {
          let name = model.path.dropFirst(target.folder.count)
          files[index].record(
            ".process(\"\(path)\")", atToken: token,
            "a model is copied as it is: .copy(\"\(name)\"), and .process for what else is there")
        }
      }
    }
  }
}
