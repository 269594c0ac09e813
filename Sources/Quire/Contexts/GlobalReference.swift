import QuireStorage

/// A place in one of several stores.
struct GlobalReference: Hashable {
  let store: StoreIdentity
  let reference: Reference
}

/// Where an object stands among those of all stores: in the order of the coordinator's stores, and
/// then of the places in them; objects that were never saved last, in the order in which they were
/// made.
struct ReferenceOrder: Comparable {
  let store: Int
  let reference: Reference

  static func < (left: Self, right: Self) -> Bool {
    left.store == right.store ? left.reference < right.reference : left.store < right.store
  }
}

extension ManagedObject {
  final var referenceOrder: ReferenceOrder {
    ReferenceOrder(store: session?.place ?? .max, reference: reference)
  }
}
