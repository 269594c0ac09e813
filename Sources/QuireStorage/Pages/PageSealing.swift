/// Gives a changed page of a file its right checksum: for tests and tools that need content which
/// no checksum can detect.
package enum PageSealing {
  /// - Parameter bytes: a whole store file.
  package static func seal(
    _ bytes: inout [UInt8], page number: Int, pageSize: Int, identity: StoreIdentity
  ) {
    let checksum = Checksum(identity)
    bytes.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress, (number + 1) * pageSize <= bytes.count else { return }
      let page = MutablePage(base + number * pageSize)
      page.checksum = checksum.ofPage(
        PageID(UInt32(number)), page.page, pageSize: pageSize)
    }
  }
}
