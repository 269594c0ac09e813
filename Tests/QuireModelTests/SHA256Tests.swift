import QuireModel
import Testing

@Suite struct SHA256Tests {
  @Test(arguments: [
    // FIPS 180-4 examples and the NIST long-message vector.
    ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
        + "klmnopqrlmnopqrsmnopqrstnopqrstu", 1,
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
    ("a", 10_000, "27dd1f61b867b6a0f6e9d8a41c43231de52107e53ae424de8f847b821db4b711"),
  ])
  func `the published vectors come out`(text: String, count: Int, hex: String) throws {
    let bytes = SHA256.digest(of: String(repeating: text, count: count).utf8)
    #expect(VersionHash(bytes: bytes)?.description == hex)
  }

  // Around a length of 55 bytes the padding needs a second block. The digest of the digests of all
  // lengths was computed by another implementation.
  @Test func `every length is padded as it should be`() throws {
    let message = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let digests = (0...message.count).flatMap { SHA256.digest(of: message[..<$0]) }
    #expect(
      VersionHash(bytes: SHA256.digest(of: digests))?.description
        == "3b05b530351f50663ba5ac734c246d169eafec6b57c70dc6dc94cad39d04aad8")
  }
}
