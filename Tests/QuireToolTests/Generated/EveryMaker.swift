import Quire

class EveryMaker: ManagedObject {
  override class var modelEntityName: String { "Maker" }

  @Managed(length: 1...) var name: String?
  @Managed(inverse: nil, renamedFrom: "best") var favorite: EveryArticle

  override class var entityDeclaration: Entity? {
    Entity("Maker", abstract: true, userInfo: ["kind": "person"])
  }
}
