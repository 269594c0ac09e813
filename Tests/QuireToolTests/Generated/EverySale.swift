import Quire

final class EverySale: EverySold {
  override class var modelEntityName: String { "Sale" }

  @Managed(deleteRule: .deny) var article: EveryArticle
}
