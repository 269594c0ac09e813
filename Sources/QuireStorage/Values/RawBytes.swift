extension [UInt8] {
  /// The array's bytes, for the duration of `body`; like `withUnsafeBytes`, with a typed error.
  func withRawBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try withUnsafeBufferPointer { buffer throws(StorageError) in
      try body(UnsafeRawBufferPointer(buffer))
    }
  }
}
