/// The objects of an array, of which none is counted for being looked at.
///
/// A loop over an array holds each object for its turn: two atomic changes of a number, which wait
/// until all that was written before is in the cache. They were a third of the time of a save.
///
/// Whoever makes one has the array besides, until the last object was looked at.
struct Uncounted<Object: AnyObject>: RandomAccessCollection {
  // Sound: whoever made it holds the objects.
  private let objects: [Object]

  init(_ objects: [Object]) { self.objects = objects }

  var startIndex: Int { 0 }
  var endIndex: Int { objects.count }

  subscript(index: Int) -> Unmanaged<Object> { .passUnretained(objects[index]) }
}
