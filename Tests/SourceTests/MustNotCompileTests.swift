import Foundation
import Testing

/// Mistakes with isolation, and properties of types that no property has, do not compile: programs
/// in a folder beside this one make them, and say on which line the compiler must refuse them and
/// with which words.
///
/// `docs/isolation.md` and `docs/core-data.md` tell the same to people.
@Suite struct MustNotCompileTests {
  private struct Program: CustomTestStringConvertible, Sendable {
    var url: URL
    var testDescription: String { url.deletingPathExtension().lastPathComponent }

    /// The one that shows how it is done.
    var isTheWay: Bool { testDescription == "id-travels" }

    /// What a comment asks for: `// flags: -default-isolation MainActor`.
    func flags() throws -> [String] {
      let text = try String(contentsOf: url, encoding: .utf8)
      guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("// flags: ") })
      else { return [] }
      return line.split(separator: " ").dropFirst(2).map(String.init)
    }

    /// What the comments ask for: `// error: words of the message`.
    func expectations() throws -> [Diagnosis] {
      try String(contentsOf: url, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false
      ).enumerated().compactMap { index, line in
        for kind in ["error", "warning"] {
          if let range = line.range(of: "// \(kind): ") {
            return Diagnosis(
              line: index + 1, kind: kind, message: String(line[range.upperBound...]))
          }
        }
        return nil
      }
    }
  }

  /// An error or a warning at a line.
  private struct Diagnosis: Hashable, CustomStringConvertible {
    var line: Int
    var kind: String
    var message: String
    var description: String { "\(line): \(kind): \(message)" }
  }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "MustNotCompile")

  private static var programs: [Program] {
    let files = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (files ?? []).filter { $0.pathExtension == "swift" }
      .sorted { $0.path() < $1.path() }.map(Program.init)
  }

  /// Where this build keeps the modules of the package.
  private static let modules = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "Modules")

  /// What the compiler says about a program. Regions are looked at after types, so types alone
  /// would not do.
  private func diagnoses(of program: Program) throws -> [Diagnosis] {
    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments =
      [
        "swiftc", "-swift-version", "6", "-parse-as-library", "-emit-sil", "-o", "/dev/null",
        "-diagnostic-style", "llvm", "-I", Self.modules.path(), program.url.path(),
      ] + (try program.flags())
    let pipe = Pipe()
    compiler.standardError = pipe
    try compiler.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    let diagnoses = text.split(separator: "\n").compactMap { line -> Diagnosis? in
      guard line.hasPrefix(program.url.path() + ":") else { return nil }
      let parts = line.dropFirst(program.url.path().count + 1).split(
        separator: ":", maxSplits: 3
      ).map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 4, let number = Int(parts[0]), ["error", "warning"].contains(parts[2])
      else { return nil }
      return Diagnosis(line: number, kind: parts[2], message: parts[3])
    }
    // An error elsewhere, as of a module that is missing, must not be taken for the one wanted.
    #expect(
      (compiler.terminationStatus == 0) == !diagnoses.contains { $0.kind == "error" }, "\(text)")
    return diagnoses
  }

  @Test(arguments: programs)
  private func `a mistake is refused where it is made`(_ program: Program) throws {
    let expectations = try program.expectations()
    let diagnoses = try diagnoses(of: program)
    for diagnosis in diagnoses {
      #expect(
        expectations.contains {
          $0.line == diagnosis.line && $0.kind == diagnosis.kind
            && diagnosis.message.contains($0.message)
        }, "nobody expects \(diagnosis)")
    }
    for expectation in expectations {
      #expect(
        diagnoses.contains { $0.line == expectation.line && $0.kind == expectation.kind },
        "the compiler does not say \(expectation)")
    }
  }

  @Test func `people are told the messages that the compiler has`() throws {
    let docs = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "docs")
    let rows = try ["isolation.md", "core-data.md"].flatMap { page in
      try String(contentsOf: docs.appending(path: page), encoding: .utf8).split(separator: "\n")
    }
    for program in Self.programs {
      let row = try #require(
        rows.first { $0.contains("`\(program.testDescription)`") || program.isTheWay },
        "no page of docs tells about \(program.testDescription)")
      for expectation in try program.expectations() {
        #expect(row.contains(expectation.message), "\(expectation)")
      }
    }
  }

  @Test func `there are programs of both kinds`() throws {
    let counts = try Self.programs.map { try $0.expectations().count }
    #expect(counts.count { $0 == 0 } >= 2 && counts.count { $0 > 0 } >= 9)
  }
}
