/// Something that many objects of one isolation refer to. It lives for as long as one of them does,
/// or another reference to it.
///
/// The objects are counted here, and together are one reference of the language. An object is made
/// and released in its context's isolation, and so are all that share this with it; so the count is
/// a plain number. The language's atomic count would wait at each change until earlier writes have
/// reached the cache.
class SharedByObjects {
  // Sound: private, and nothing is called while it changes.
  @exclusivity(unchecked) private final var userCount = 0

  /// Counts an object that refers to this from now on.
  final func addUser() {
    userCount &+= 1
    if userCount == 1 { holdTogether() }
  }

  /// Counts an object that no longer refers to this; the last one releases it.
  final func removeUser() {
    userCount &-= 1
    if userCount == 0 { letGoTogether() }
  }

  // Sound: retained for the first user, and released for the last one.
  @inline(never)
  private final func holdTogether() { _ = Unmanaged.passRetained(self) }

  @inline(never)
  private final func letGoTogether() { Unmanaged.passUnretained(self).release() }
}

/// Keeps a page in memory for the rows that objects have there: one for each leaf that a fetch
/// takes.
final class RowKeeper: SharedByObjects {
  private let owner: AnyObject

  init(_ owner: AnyObject) { self.owner = owner }
}

/// A reference to what keeps the bytes of an object's row: an owner of its own, or a keeper that it
/// shares with other objects.
struct RowHold {
  // Sound: an address of a counted object, of which the lowest bit says whether it is a keeper.
  // Objects are at multiples of 16. One reference belongs to the object that has the row.
  private var bits: UInt

  static var none: RowHold { RowHold(bits: 0) }

  private init(bits: UInt) { self.bits = bits }

  /// A reference to what keeps one row.
  init(_ owner: Unmanaged<AnyObject>) {
    bits = UInt(bitPattern: owner.retain().toOpaque())
  }

  /// One more object's reference to a keeper.
  init(sharing keeper: Unmanaged<RowKeeper>) {
    keeper._withUnsafeGuaranteedRef { $0.addUser() }
    bits = UInt(bitPattern: keeper.toOpaque()) | 1
  }

  var owner: AnyObject? {
    UnsafeRawPointer(bitPattern: bits & ~1).map {
      Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Releases the reference.
  func end() {
    guard let address = UnsafeRawPointer(bitPattern: bits & ~1) else { return }
    if bits & 1 != 0 {
      Unmanaged<RowKeeper>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.removeUser() }
    } else {
      Unmanaged<AnyObject>.fromOpaque(address).release()
    }
  }
}
