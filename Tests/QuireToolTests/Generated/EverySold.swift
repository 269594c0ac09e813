import Quire

class EverySold: ManagedObject {
  override class var entityName: String { "Sold" }
}
