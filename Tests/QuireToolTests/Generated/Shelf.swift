import Quire

final class Shelf: ManagedObject {
  @Managed var articles: Set<EveryArticle>

  override class var entityDeclaration: Entity? {
    Entity("Shelf") {
      Relationship("articles", toMany: "Article", inverse: "shelves", userInfo: ["label": "Goods"])
    }
  }
}
