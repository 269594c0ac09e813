import Quire

final class Workshop: EveryMaker {
  override class var entityName: String { "Workshop" }
}
