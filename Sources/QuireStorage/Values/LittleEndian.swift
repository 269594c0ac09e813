// Numbers on disk are little-endian and may lie at any address. These are the only loads and stores
// the engine uses; bounds are the caller's business, checked once per page
// (`PageValidation.swift`).

extension UnsafeRawPointer {
  func u16(at offset: Int) -> Int {
    Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  func u32(at offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  func u64(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  func i64(at offset: Int) -> Int64 {
    Int64(littleEndian: loadUnaligned(fromByteOffset: offset, as: Int64.self))
  }
}

extension UnsafeMutableRawPointer {
  func setU16(_ value: Int, at offset: Int) {
    let word = UInt16(truncatingIfNeeded: value)
    storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt16.self)
  }

  func setU32(_ value: UInt32, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }

  func setU64(_ value: UInt64, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }

  func setI64(_ value: Int64, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Int64.self)
  }
}
