import Quire

class EverySold: ManagedObject {
  override class var modelEntityName: String { "Sold" }
}
