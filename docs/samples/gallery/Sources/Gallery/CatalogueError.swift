/// What the catalogue cannot do.
public enum CatalogueError: Error, Equatable, CustomStringConvertible {
  case noArtwork(String)
  case severalArtworks(String)
  case alreadySold(String, to: String)

  public var description: String {
    switch self {
    case .noArtwork(let title): "there is no work “\(title)”: gallery list shows what there is"
    case .severalArtworks(let title): "there is more than one work “\(title)”"
    case .alreadySold(let title, let buyer): "“\(title)” is sold already, to \(buyer)"
    }
  }
}
