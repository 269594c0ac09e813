import QuireStorage

/// A reference in one of several stores.
struct GlobalReference: Hashable {
  let store: StoreIdentity
  let reference: Reference
}

/// The position of an object in an order of all objects: by the coordinator's stores, and then by
/// their references; new objects come last, in the order in which they were made.
struct ReferenceOrder: Comparable {
  let store: Int
  let reference: Reference

  static func < (left: Self, right: Self) -> Bool {
    left.store == right.store ? left.reference < right.reference : left.store < right.store
  }
}

extension ManagedObject {
  final var referenceOrder: ReferenceOrder {
    ReferenceOrder(store: session?.position ?? .max, reference: reference)
  }
}
