import Foundation
import QuireCoreData

/// Keeps a coordinate as text.
final class CoordinateTransformer: ValueTransformer {
  static let name = NSValueTransformerName(rawValue: String(describing: CoordinateTransformer.self))

  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }

  override func transformedValue(_ value: Any?) -> Any? {
    guard let coordinate = value as? Coordinate else { return nil }
    return Data("\(coordinate.latitude) \(coordinate.longitude)".utf8)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, let text = String(data: data, encoding: .utf8) else {
      return nil
    }
    let parts = text.split(separator: " ").compactMap { Double($0) }
    guard parts.count == 2 else { return nil }
    return Coordinate(latitude: parts[0], longitude: parts[1])
  }
}

/// Labels, one after the other, as JSON.
final class LabelsTransformer: ValueTransformer {
  static let name = NSValueTransformerName("LabelsTransformer")

  private let encoder: JSONEncoder
  private let decoder = JSONDecoder()

  required init() {
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    super.init()
  }

  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }

  override func transformedValue(_ value: Any?) -> Any? {
    guard let labels = value as? [String] else { return nil }
    return try? encoder.encode(labels)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? decoder.decode([String].self, from: data)
  }
}

public enum Transformers {
  public static func register() {
    ValueTransformer.setValueTransformer(
      CoordinateTransformer(), forName: CoordinateTransformer.name)
    ValueTransformer.setValueTransformer(LabelsTransformer(), forName: LabelsTransformer.name)
  }
}
