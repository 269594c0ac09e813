import Quire

final class Workshop: EveryMaker {
  override class var modelEntityName: String { "Workshop" }
}
