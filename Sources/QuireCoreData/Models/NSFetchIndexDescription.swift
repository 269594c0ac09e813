import Foundation
import Quire
import QuireModel

/// An index of an entity, for requests that search or sort by its properties.
open class NSFetchIndexDescription: NSObject {
  /// The name of the index.
  open var name: String
  /// What the index is sorted by, the first element first.
  open var elements: [NSFetchIndexElementDescription]
  /// The condition of the objects in the index; `nil` for all.
  open var partialIndexPredicate: NSPredicate?
  /// The entity that has the index.
  open internal(set) weak var entity: NSEntityDescription?
  private var declaration: FetchIndexDescription?

  /// An index of a name, by some elements.
  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
  }

  init(_ declaration: FetchIndexDescription) {
    self.declaration = declaration
    name = declaration.name
    elements = declaration.elements.map(NSFetchIndexElementDescription.init)
    partialIndexPredicate = declaration.partialIndexPredicate.map { NSPredicate(format: $0) }
  }

  func declared() throws -> FetchIndexDescription {
    var index = FetchIndexDescription(name, elements.map(\.declared))
    index.userInfo = declaration?.userInfo ?? [:]
    index.partialIndexPredicate = try partialIndexPredicate?.fetchPredicate().description
    return index
  }
}

/// One property that an index is sorted by.
open class NSFetchIndexElementDescription: NSObject {
  /// The property; `nil` for an element that was read from a model.
  public let property: NSPropertyDescription?
  /// The kind of the index.
  public let collationType: NSFetchIndexElementType
  /// Whether small values come first.
  open var isAscending = true
  private let declaration: FetchIndexDescription.Element?

  /// An element for a property.
  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
    declaration = nil
  }

  init(_ declaration: FetchIndexDescription.Element) {
    self.declaration = declaration
    property = nil
    collationType = declaration.kind == .rTree ? .rTree : .binary
    isAscending = declaration.isAscending
  }

  /// The name of the property.
  public var propertyName: String? { property?.name ?? declaration?.property }

  var declared: FetchIndexDescription.Element {
    var element =
      declaration
      ?? (collationType == .rTree ? .rTree(property?.name ?? "") : .init(property?.name ?? ""))
    element.isAscending = isAscending
    return element
  }
}

/// The kind of an index.
public enum NSFetchIndexElementType: UInt, Sendable {
  /// A tree of sorted values.
  case binary = 0
  /// An index of locations, which is kept and not used.
  case rTree = 1
}
