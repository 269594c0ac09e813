/// An object that was saved, and whether it was inserted.
struct MergedReference {
  let session: StoreSession
  let reference: Reference
  let isInsertion: Bool

  var order: ReferenceOrder { ReferenceOrder(store: session.position, reference: reference) }
}
