import QuireModel

/// The objects that a request has found, made when they are looked at, a batch at a time; see
/// ``ManagedObjectContext/fetchBatched(_:)``.
///
/// ## What it holds
///
/// Which objects there are and in which order was settled by the fetch, and is kept as eight bytes
/// an object. The first look at one makes a batch of neighbours, ``batchSize`` of them, and reads
/// their rows; the array holds the last batch that was looked at and no other, so that going
/// through a long result takes the memory of one batch. Objects that were never saved when they
/// were found are held by the array, as there is no other place to find them again.
///
/// ## What changes later
///
/// Nothing in here: objects that are inserted afterwards are missing, and one that is changed stays
/// in its place. Values are those of the moment when an object's row is read, as with any fault.
/// An object that was deleted meanwhile stays in its place, a fault that cannot be fulfilled: its
/// values read as `nil`.
///
/// Reading cannot throw. An error of the store leaves faults, and the context's next fetch or save
/// throws it. When the store has left the coordinator, there are objects that belong to no context.
public struct BatchFaultingArray<Element: ManagedObject>: RandomAccessCollection {
  private let content: BatchFaultingContent

  /// How many objects are made at once.
  public var batchSize: Int { content.batchSize }

  init(_ content: BatchFaultingContent) { self.content = content }

  public var startIndex: Int { 0 }
  public var endIndex: Int { content.places.count }

  /// - Complexity: O(log *n*) in the rows of the entity; O(*b* log *n*) when the object is not of
  ///   the last batch, of *b* objects.
  public subscript(position: Int) -> Element {
    precondition(indices.contains(position), "the array has no object number \(position)")
    if let element = content.object(at: position) as? Element { return element }
    // A store that was opened again may have another class at that place.
    return Element(content.origin(at: position))
  }

  /// The ID of an object, which is not made for that.
  public func objectID(at position: Int) -> ManagedObjectID {
    precondition(indices.contains(position), "the array has no object number \(position)")
    return content.objectID(at: position)
  }
}

@available(*, unavailable)
extension BatchFaultingArray: Sendable {}

extension BatchFaultingArray: CustomStringConvertible {
  public var description: String {
    "\(count) objects of \(Element.self) in batches of \(batchSize)"
  }
}

/// What copies of a ``BatchFaultingArray`` share.
final class BatchFaultingContent {
  let context: ManagedObjectContext
  let places: FetchedPlaces
  let batchSize: Int
  /// The stores as they were asked; a session may have gone when an object is looked at.
  private let stores: [StoreEntities]
  /// Those that had no place in a store when they were found, by their numbers.
  private let unsaved: [Int: ManagedObject]
  /// The number of the first object of the last batch.
  private var batchStart = 0
  private var batch: [ManagedObject] = []

  init(_ context: ManagedObjectContext, _ parts: [StoreFetch], _ places: FetchedPlaces, _ size: Int)
    throws
  {
    self.context = context
    self.places = places
    stores = parts.map(\.view.entities)
    batchSize = size > 0 ? size : IncrementalRows.batchCount
    var unsaved: [Int: ManagedObject] = [:]
    for (index, reference) in places.references.enumerated() where reference.isTemporary {
      unsaved[index] = try parts[places.store(at: index)].session.object(at: reference)
    }
    self.unsaved = unsaved
  }

  func object(at index: Int) -> ManagedObject {
    if index < batchStart || index >= batchStart + batch.count {
      let start = index - index % batchSize
      let objects = (start..<min(start + batchSize, places.count)).map(makeObject)
      // Held from before they are told that their rows have come: they may look in here.
      (batchStart, batch) = (start, objects)
      fulfil(objects)
      return objects[index - start]
    }
    return batch[index - batchStart]
  }

  private func makeObject(at index: Int) -> ManagedObject {
    if let object = unsaved[index] { return object }
    do {
      if let session = session(of: index) {
        return try session.object(at: places.references[index])
      }
    } catch {
      context.report(error)
    }
    return ManagedObject(origin(at: index))
  }

  private func fulfil(_ objects: [ManagedObject]) {
    do {
      try context.fulfil(objects)
    } catch {
      context.report(error)
    }
  }

  private func session(of index: Int) -> StoreSession? {
    let identity = stores[places.store(at: index)].identity
    return context.session(with: identity)
      ?? context.formerSessions.first { $0.identity == identity }
  }

  // MARK: Without an object

  private func binding(at index: Int) -> EntityBinding {
    if let object = unsaved[index] { return object.binding }
    let reference = places.references[index]
    // The fetch has found it there.
    return stores[places.store(at: index)].storage(of: reference)?.binding
      ?? .unknown(named: "\(reference.entity)")
  }

  /// How an object comes into being that belongs to no context.
  func origin(at index: Int) -> ManagedObject.Origin {
    .init(ObjectHome(binding(at: index)), at: places.references[index])
  }

  func objectID(at index: Int) -> ManagedObjectID {
    if let object = unsaved[index] { return object.objectID }
    let entities = stores[places.store(at: index)]
    let reference = places.references[index]
    if let object = session(of: index)?.registered(reference) { return object.objectID }
    return ManagedObjectID(
      entity: binding(at: index).entity, store: entities.identity, key: reference.key)
  }
}
