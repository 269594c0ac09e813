import Quire

final class EverySale: EverySold {
  override class var entityName: String { "Sale" }

  @Managed(deleteRule: .deny) var article: EveryArticle
}
