import Foundation
import Gallery

/// What the command line asks for.
enum Command {
  case list
  case unsold
  case find(String)
  case add(title: String, artist: String, price: Decimal, year: Int16?)
  case sell(title: String, buyer: String, amount: Decimal?)
  case delete(title: String)

  init(_ invocation: Invocation) throws {
    switch (invocation.command, invocation.operands.first, invocation.operands.count) {
    case ("list", nil, _): self = .list
    case ("unsold", nil, _): self = .unsold
    case ("find", let text?, 1): self = .find(text)
    case ("add", let title?, 1):
      self = .add(
        title: title, artist: try invocation.required("artist"),
        price: try invocation.amount("price") ?? 0, year: try invocation.number("year"))
    case ("sell", let title?, 1):
      self = .sell(
        title: title, buyer: try invocation.required("to"),
        amount: try invocation.amount("price"))
    case ("delete", let title?, 1): self = .delete(title: title)
    case (let name, _, _):
      throw Usage(mistake: "“\(name)” is no command, or has too many or too few words behind it")
    }
  }

  func run(on catalogue: Catalogue) throws {
    switch self {
    case .list: show(try catalogue.all())
    case .unsold: show(try catalogue.unsold())
    case .find(let text): show(try catalogue.find(text))
    case .add(let title, let artist, let price, let year):
      show([try catalogue.add(title, by: artist, price: price, year: year)])
    case .sell(let title, let buyer, let amount):
      try catalogue.sell(catalogue.artwork(titled: title), to: buyer, for: amount)
      print("sold so far: \(try catalogue.revenue())")
    case .delete(let title): try catalogue.delete(catalogue.artwork(titled: title))
    }
  }

  private func show(_ artworks: [Artwork]) {
    for artwork in artworks {
      let year = artwork.year.map { " (\($0))" } ?? ""
      let sale = artwork.sale.map { ", sold to \($0.buyer)" } ?? ""
      print(
        "\(artwork.artist?.name ?? "unknown"): \(artwork.title)\(year), \(artwork.price)\(sale)")
    }
  }
}
