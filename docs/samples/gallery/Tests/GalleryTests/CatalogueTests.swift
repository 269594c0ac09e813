import Foundation
import Gallery
import Testing

@Suite struct CatalogueTests {
  // A store in memory is the same engine as one in a file.
  private let catalogue: Catalogue

  init() throws {
    catalogue = try Catalogue(at: nil)
    try catalogue.add("The Great Wave", by: "Katsushika Hokusai", price: 1_600_000)
    try catalogue.add("Fine Wind, Clear Morning", by: "Katsushika Hokusai", price: 85_000)
    try catalogue.add("The Swan", by: "Hilma af Klint", price: 900_000)
  }

  @Test func `works are listed by artist and title`() throws {
    #expect(
      try catalogue.all().map(\.title) == [
        "The Swan", "Fine Wind, Clear Morning", "The Great Wave",
      ])
  }

  @Test func `a text is found in titles and in the names of artists`() throws {
    #expect(try catalogue.find("wave").map(\.title) == ["The Great Wave"])
    #expect(try catalogue.find("hokusai").count == 2)
    #expect(try catalogue.find("Monet").isEmpty)
  }

  @Test func `an artist is there once, and goes with the last work`() throws {
    #expect(try catalogue.artists().map(\.name) == ["Hilma af Klint", "Katsushika Hokusai"])
    let hokusai = try #require(try catalogue.artists().last)
    #expect(hokusai.artworks.count == 2)
    try catalogue.delete(try catalogue.artwork(titled: "The Great Wave"))
    #expect(hokusai.artworks.count == 1)
    try catalogue.delete(try catalogue.artwork(titled: "Fine Wind, Clear Morning"))
    #expect(try catalogue.artists().map(\.name) == ["Hilma af Klint"])
  }

  @Test func `a work is sold once, and goes with its sale`() throws {
    let wave = try catalogue.artwork(titled: "The Great Wave")
    try catalogue.sell(wave, to: "A museum")
    try catalogue.sell(
      try catalogue.artwork(titled: "The Swan"), to: "A friend", for: Decimal(string: "19.99"))
    #expect(try catalogue.unsold().map(\.title) == ["Fine Wind, Clear Morning"])
    #expect(try catalogue.revenue() == Decimal(string: "1600019.99"))
    #expect(throws: CatalogueError.alreadySold("The Great Wave", to: "A museum")) {
      try catalogue.sell(wave, to: "Somebody else")
    }
    try catalogue.delete(wave)
    #expect(try catalogue.revenue() == Decimal(string: "19.99"))
  }

  @Test func `what the model forbids is not saved`() throws {
    #expect(throws: (any Error).self) { try catalogue.add("", by: "Nobody", price: 1) }
    #expect(throws: (any Error).self) { try catalogue.add("Debt", by: "Nobody", price: -1) }
    #expect(try catalogue.all().count == 3)
    #expect(throws: CatalogueError.noArtwork("Debt")) { try catalogue.artwork(titled: "Debt") }
  }
}
