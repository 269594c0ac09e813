import Gallery

/// What the command line asks for.
enum Command {
  case list
  case find(String)
  case add(title: String, artist: String, cost: Double)
  case delete(title: String)

  init(_ invocation: Invocation) throws {
    switch (invocation.command, invocation.operands.first, invocation.operands.count) {
    case ("list", nil, _): self = .list
    case ("find", let text?, 1): self = .find(text)
    case ("add", let title?, 1):
      self = .add(
        title: title, artist: try invocation.required("artist"),
        cost: try invocation.number("cost") ?? 0)
    case ("delete", let title?, 1): self = .delete(title: title)
    case (let name, _, _):
      throw Usage(mistake: "“\(name)” is no command, or has too many or too few words behind it")
    }
  }

  func run(on catalogue: Catalogue) throws {
    switch self {
    case .list: show(try catalogue.all())
    case .find(let text): show(try catalogue.find(text))
    case .add(let title, let artist, let cost):
      show([try catalogue.add(title, by: artist, cost: cost)])
    case .delete(let title): try catalogue.delete(catalogue.artwork(titled: title))
    }
  }

  private func show(_ artworks: [Artwork]) {
    for artwork in artworks {
      print("\(artwork.artist?.name ?? "unknown"): \(artwork.title), \(artwork.cost)")
    }
  }
}
