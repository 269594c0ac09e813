import Gallery

/// What the command line asks for.
enum Command {
  case list
  case find(String)
  case add(title: String, artist: String, price: Double, year: Int16?)
  case delete(title: String)

  init(_ invocation: Invocation) throws {
    switch (invocation.command, invocation.operands.first, invocation.operands.count) {
    case ("list", nil, _): self = .list
    case ("find", let text?, 1): self = .find(text)
    case ("add", let title?, 1):
      self = .add(
        title: title, artist: try invocation.required("artist"),
        price: try invocation.number("price") ?? 0, year: try invocation.number("year"))
    case ("delete", let title?, 1): self = .delete(title: title)
    case (let name, _, _):
      throw Usage(mistake: "“\(name)” is no command, or has too many or too few words behind it")
    }
  }

  func run(on catalogue: Catalogue) throws {
    switch self {
    case .list: show(try catalogue.all())
    case .find(let text): show(try catalogue.find(text))
    case .add(let title, let artist, let price, let year):
      show([try catalogue.add(title, by: artist, price: price, year: year)])
    case .delete(let title): try catalogue.delete(catalogue.artwork(titled: title))
    }
  }

  private func show(_ artworks: [Artwork]) {
    for artwork in artworks {
      let year = artwork.year.map { " (\($0))" } ?? ""
      print("\(artwork.artist?.name ?? "unknown"): \(artwork.title)\(year), \(artwork.price)")
    }
  }
}
