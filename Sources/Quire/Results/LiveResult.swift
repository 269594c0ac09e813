import QuireModel

/// One state of the result of a request, and what has changed since the one before.
///
/// Results share what is equal in them: to keep one costs little.
public struct LiveResult<Result: ManagedObject>: RandomAccessCollection {
  private let list: SectionedList<ManagedObject>
  private let objectIDs: ChunkedList<ManagedObjectID>
  private let formerIDs: ChunkedList<ManagedObjectID>
  /// The difference, if it is known.
  private let steps: CollectionDifference<ManagedObjectID>?
  /// Of the objects that were there before, those that show other values.
  public let updatedIDs: Set<ManagedObjectID>

  init(
    _ controller: FetchedResultsController<Result>, since formerIDs: ChunkedList<ManagedObjectID>,
    _ steps: CollectionDifference<ManagedObjectID>?, _ updatedIDs: Set<ManagedObjectID>
  ) {
    list = controller.list ?? SectionedList()
    objectIDs = controller.objectIDs
    self.formerIDs = formerIDs
    self.steps = steps
    self.updatedIDs = updatedIDs
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { list.elements.count }
  /// The object at a position, in the order of the request.
  ///
  /// - Complexity: O(log *n*); a loop over all objects is O(*n*).
  public subscript(index: Int) -> Result { list.result(at: index) }

  /// One after the other, without looking each up.
  public func makeIterator() -> Iterator { Iterator(elements: list.elements.makeIterator()) }

  /// Gives the objects in order.
  public struct Iterator: IteratorProtocol {
    fileprivate var elements: ChunkedList<ManagedObject>.Iterator

    /// The next object; `nil` after the last one.
    public mutating func next() -> Result? {
      // Sound: what a fetch finds is checked to be of its class.
      elements.next().map { unsafeDowncast($0, to: Result.self) }
    }
  }

  /// The sections, in order; one with an empty name for a result that is not in sections.
  ///
  /// - Complexity: O(*n*), each time it is asked for.
  public var sections: [FetchedResultsSectionInfo<Result>] {
    list.sections.map { section in
      FetchedResultsSectionInfo(
        name: section.name,
        indexTitle: FetchedResultsController<Result>.usualIndexTitle(of: section.name),
        objects: [Result](checked: Array(list.elements[section.range])))
    }
  }

  /// How the result differs from the one before, in the IDs of its objects; moves are associated.
  ///
  /// - Complexity: O(1) where the result follows from the one before by one set of changes; else
  ///   O(*n* + *n* × *changes*), when it is asked for.
  public var difference: CollectionDifference<ManagedObjectID> {
    steps ?? objectIDs.difference(from: formerIDs).inferringMoves()
  }
}

@available(*, unavailable)
extension LiveResult: Sendable {}

@available(*, unavailable)
extension LiveResult.Iterator: Sendable {}
