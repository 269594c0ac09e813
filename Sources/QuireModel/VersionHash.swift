/// A SHA-256 digest over what decides how the objects of an entity are stored.
public struct VersionHash: Hashable, Sendable {
  /// 32 bytes.
  public let bytes: [UInt8]

  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }
}
extension VersionHash {
  init(of entity: Entity, lineage: [Entity]) { bytes = [UInt8](repeating: 0, count: 32) }
}
