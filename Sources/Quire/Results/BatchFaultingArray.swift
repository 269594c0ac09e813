import QuireModel

/// The objects that a request finds, made on access and in batches; see
/// ``ManagedObjectContext/fetchBatched(_:)``.
///
/// ## Memory
///
/// The fetch determines the objects and their order, which take eight bytes for each object. The
/// first access to an object makes a batch of ``batchSize`` neighbours and reads their rows. The
/// array keeps only the last batch, so that iterating over a long result takes the memory of one
/// batch. Objects that were unsaved when they were found are kept by the array, as they could not
/// be found again.
///
/// ## Later changes
///
/// The array itself never changes: objects that are inserted later are missing, and a changed one
/// keeps its position. Values are those of the moment when an object's row is read, as with any
/// fault. An object that was deleted in the meantime keeps its position as a fault that cannot be
/// fulfilled: its values read as `nil`.
///
/// Reading cannot throw. After an error of the store objects remain faults, and the context's next
/// fetch or save throws the error. After the store was removed from the coordinator, the array
/// returns objects without a context.
public struct BatchFaultingArray<Element: ManagedObject>: RandomAccessCollection {
  private let content: BatchFaultingContent

  /// The number of objects that are made at a time.
  public var batchSize: Int { content.batchSize }

  init(_ content: BatchFaultingContent) { self.content = content }

  public var startIndex: Int { 0 }
  public var endIndex: Int { content.fetched.count }

  /// - Complexity: O(log *n*) in the rows of the entity; O(*b* log *n*) with a batch size of *b* if
  ///   the object is not in the last batch.
  public subscript(position: Int) -> Element {
    precondition(indices.contains(position), "the array has no object number \(position)")
    if let element = content.object(at: position) as? Element { return element }
    // The entity may have another class since the store was opened again.
    return Element(content.origin(at: position))
  }

  /// The ID of an object, without making the object.
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

/// The storage that copies of a ``BatchFaultingArray`` share.
final class BatchFaultingContent {
  let context: ManagedObjectContext
  let fetched: FetchedReferences
  let batchSize: Int
  /// The stores at the time of the fetch, as a session may end before an object is accessed.
  private let stores: [StoreEntities]
  /// Objects that were unsaved when they were found, by their positions.
  private let unsaved: [Int: ManagedObject]
  /// The position of the first object of the last batch.
  private var batchStart = 0
  private var batch: [ManagedObject] = []

  init(
    _ context: ManagedObjectContext, _ parts: [StoreFetch], _ fetched: FetchedReferences,
    _ size: Int
  ) throws {
    self.context = context
    self.fetched = fetched
    stores = parts.map(\.view.entities)
    batchSize = size > 0 ? size : IncrementalRows.batchCount
    var unsaved: [Int: ManagedObject] = [:]
    for (index, reference) in fetched.references.enumerated() where reference.isTemporary {
      unsaved[index] = try parts[fetched.store(at: index)].session.object(at: reference)
    }
    self.unsaved = unsaved
  }

  func object(at index: Int) -> ManagedObject {
    if index < batchStart || index >= batchStart + batch.count {
      let start = index - index % batchSize
      let objects = (start..<min(start + batchSize, fetched.count)).map(makeObject)
      // Kept before they get their rows, as that may call code that reads this array.
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
        return try session.object(at: fetched.references[index])
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
    let identity = stores[fetched.store(at: index)].identity
    return context.session(with: identity)
      ?? context.formerSessions.first { $0.identity == identity }
  }

  // MARK: Without an object

  private func binding(at index: Int) -> EntityBinding {
    if let object = unsaved[index] { return object.binding }
    let reference = fetched.references[index]
    // Not `nil` for a row that the fetch has found.
    return stores[fetched.store(at: index)].storage(of: reference)?.binding
      ?? .unknown(named: "\(reference.entity)")
  }

  /// The origin of an object that belongs to no context.
  func origin(at index: Int) -> ManagedObject.Origin {
    .init(ObjectArena(binding(at: index)), at: fetched.references[index])
  }

  func objectID(at index: Int) -> ManagedObjectID {
    if let object = unsaved[index] { return object.objectID }
    let entities = stores[fetched.store(at: index)]
    let reference = fetched.references[index]
    if let object = session(of: index)?.registered(reference) { return object.objectID }
    return ManagedObjectID(
      entity: binding(at: index).entity, store: entities.identity, key: reference.key)
  }
}
