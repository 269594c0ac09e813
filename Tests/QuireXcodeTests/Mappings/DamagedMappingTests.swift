import Foundation
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

/// Whatever is in the file: an error, never the end of the process.
@Suite struct DamagedMappingTests {
  private let folder: TemporaryFolder
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private static let seed = environmentValue("QUIRE_SEED").flatMap(UInt64.init) ?? 1

  init() throws {
    folder = try TemporaryFolder()
    source = try CompiledMapping.countries()
    destination = try CompiledMapping.states()
  }

  @discardableResult
  private func load(_ bytes: [UInt8]) throws -> XcodeMappingModel {
    let url = try folder.write(bytes, to: "Damaged.cdm")
    return try XcodeMappingModel(
      contentsOf: url, sourceModel: source, destinationModel: destination)
  }

  private func expectError(_ value: KeyedArchiveWriter.Value, says words: String) {
    for bytes in [value.binary, Array(value.xml.utf8)] {
      do {
        try load(bytes)
        Issue.record("no error")
      } catch {
        #expect(error is XcodeMappingError)
        #expect("\(error)".contains(words), "\(error)")
      }
    }
  }

  @Test func `a file that is cut off anywhere is an error`() throws {
    let list = try CompiledMapping().list()
    let document = Array(MappingDocument().text.utf8)
    // The XML form is ten times as long, and mostly tags.
    let scale = Amount.of(debug: 7, release: 1)
    for (bytes, step) in [(list.binary, 7), (document, 7), (Array(list.xml.utf8), 83)] {
      for count in stride(from: 0, to: bytes.count - 10, by: scale * step) {
        #expect(throws: XcodeMappingError.self) { try load(Array(bytes.prefix(count))) }
      }
    }
  }

  @Test func `damaged bytes make errors or other mappings, and nothing worse`() throws {
    let list = try CompiledMapping().list()
    var random = SeededGenerator(seed: Self.seed)
    var (count, errorCount) = (0, 0)
    func tryLoading(_ bytes: [UInt8]) {
      count += 1
      do {
        try load(bytes)
      } catch {
        #expect(error is XcodeMappingError)
        errorCount += 1
      }
    }
    let binary = list.binary
    for index in stride(from: 0, to: binary.count, by: Amount.of(debug: 147, release: 7)) {
      var bytes = binary
      bytes[index] ^= UInt8(1 << (index / 7 % 8))
      tryLoading(bytes)
    }
    for bytes in [binary, Array(list.xml.utf8), Array(MappingDocument().text.utf8)] {
      for _ in 0..<Amount.of(debug: 14, release: 250) {
        var damaged = bytes
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          damaged[Int.random(in: damaged.indices, using: &random)] =
            UInt8.random(in: .min ... .max, using: &random)
        }
        tryLoading(damaged)
      }
    }
    #expect(errorCount > 2 * count / 5, "seed \(Self.seed): \(errorCount) of \(count)")
  }

  @Test func `random property lists are errors`() throws {
    var random = SeededGenerator(seed: Self.seed)
    func value(_ depth: Int) -> KeyedArchiveWriter.Value {
      switch Int.random(in: depth > 3 ? 0..<6 : 0..<9, using: &random) {
      case 0: return .text(["NSMappingModel", "root", "", "ü"].randomElement(using: &random) ?? "")
      case 1: return .integer(Int.random(in: -2...60, using: &random))
      case 2: return .real(.nan)
      case 3: return .flag(Bool.random(using: &random))
      case 4: return .data([1, 2])
      case 5: return .uid(Int.random(in: 0...12, using: &random))
      case 6, 7:
        return .list((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1) })
      default:
        let keys = [
          "$class", "$classname", "NS.objects", "NS.keys", "NSEntityMappings", "NSMappingName",
        ]
        return .entries(
          (0..<3).map { _ in (keys.randomElement(using: &random) ?? "", value(depth + 1)) })
      }
    }
    for _ in 0..<Amount.of(debug: 300, release: 1_000) {
      let list = KeyedArchiveWriter.Value.entries([
        ("$objects", .list((0..<12).map { _ in value(1) })),
        ("$top", .entries([("root", .uid(1))])),
      ])
      #expect(throws: XcodeMappingError.self, "seed \(Self.seed)") { try load(list.binary) }
    }
  }

  @Test func `a property list with a set, or an array that contains itself, is an error`() throws {
    // A set, and an array that contains itself.
    for object in [0xC1, 0xA1] as [UInt8] {
      let trailer: [UInt8] =
        [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
        + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
      let bytes = Array("bplist00".utf8) + [object, 0, 8] + trailer
      #expect(throws: XcodeMappingError.self) { try load(bytes) }
    }
  }

  @Test func `a document whose entities unfold without end is an error`() throws {
    var entities = #"<!ENTITY a0 "aaaaaaaaaa">"#
    for level in 1...12 {
      let parts = String(repeating: "&a\(level - 1);", count: 10)
      entities += #"<!ENTITY a\#(level) "\#(parts)">"#
    }
    let text = """
      <?xml version="1.0"?><!DOCTYPE database [\(entities)]><database><object>&a12;</object></database>
      """
    #expect(throws: XcodeMappingError.self) { try load(Array(text.utf8)) }
  }

  // MARK: Archives that are whole, but mean nothing

  private func archive(
    _ expression: (KeyedArchiveWriter) throws -> KeyedArchiveWriter.Value
  ) rethrows -> KeyedArchiveWriter.Value {
    let writer = KeyedArchiveWriter()
    let mapping = writer.object(
      "NSEntityMapping",
      [
        ("NSMappingType", .integer(5)), ("NSSourceEntityName", writer.text("Sea")),
        ("NSSourceExpression", try expression(writer)),
      ])
    return writer.list(
      root: writer.object("NSMappingModel", [("NSEntityMappings", writer.array([mapping]))]))
  }

  @Test func `an expression of an unknown class is an error that names its place`() {
    expectError(
      archive { $0.object("NSBlockExpression", []) },
      says: "root.NSEntityMappings[0].NSSourceExpression is of the class NSBlockExpression")
    expectError(
      archive { writer in
        let operand = writer.object("NSVariableExpression", [("NSVariable", .integer(3))])
        return writer.object(
          "NSFunctionExpression", [("NSSelectorName", .text("x")), ("NSOperand", operand)])
      }, says: "NSSourceExpression.NSOperand.NSVariable is not a text")
    expectError(archive { _ in .uid(999) }, says: "NSSourceExpression is object 999, which")
    expectError(archive { _ in .text("x") }, says: "NSSourceExpression is no expression")
  }

  @Test func `an expression that contains itself is an error`() {
    expectError(
      archive { writer in
        let next = writer.objects.count + 3
        return writer.object(
          "NSTernaryExpression",
          [
            ("NSPredicate", writer.object("NSTruePredicate", [])),
            ("NSTrueExpression", .uid(next)), ("NSFalseExpression", .uid(next)),
          ])
      }, says: "in which it is")
  }

  @Test func `a small archive that unfolds into an endless tree is an error`() {
    expectError(
      archive { writer in
        let truth = writer.object("NSTruePredicate", [])
        var leaf = writer.object("NSSelfExpression", [])
        for _ in 0..<60 {
          leaf = writer.object(
            "NSTernaryExpression",
            [("NSPredicate", truth), ("NSTrueExpression", leaf), ("NSFalseExpression", leaf)])
        }
        return leaf
      }, says: "is one of more than")
  }

  @Test func `a deep archive is an error`() {
    expectError(
      archive { writer in
        var leaf = writer.object("NSSelfExpression", [])
        for _ in 0..<Amount.of(debug: 2_000, release: 5_000) {
          leaf = writer.object(
            "NSSubqueryExpression", [("NSExpression", leaf), ("NSVariable", .text("x"))])
        }
        return leaf
      }, says: "nested too deep")
  }

  @Test func `an archive of something else is an error`() {
    let writer = KeyedArchiveWriter()
    expectError(
      writer.list(root: writer.object("NSManagedObjectModel", [])), says: "is not an NSMappingModel"
    )
    expectError(.list([]), says: "no keyed archive")
  }
}
