// swift-tools-version: 6.2
import PackageDescription

// `QUIRE_TESTS=objects` leaves out all tests but those of objects and contexts, which `.ci/run`
// builds a second time, optimised: that takes minutes, on one core. By night all are.
let testsObjectsAlone = Context.environment["QUIRE_TESTS"] == "objects"

// Who builds this package itself has no use for its plugin, which would cost half of the time: the
// package manager compiles what a plugin runs, here the tool and all that it stands on, a second
// time for the machine that builds. Those who depend on the package build from a folder of theirs.
let isBuiltForItself = Context.environment["PWD"] == Context.packageDirectory

// Floors, ground floor first: QuireStorage and QuireModel know nothing of each other; Quire stands
// on both; QuireXcode and QuireTesting stand on Quire; the tool stands on everything.
let package = Package(
  name: "Quire",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // Quire exports the model's module: both are its interface.
    .library(name: "Quire", targets: ["Quire", "QuireModel"]),
    .library(name: "QuireCoreData", targets: ["QuireCoreData"]),
    .library(name: "QuireFoundation", targets: ["QuireFoundation"]),
    .library(name: "QuireStorage", targets: ["QuireStorage"]),
    .library(name: "QuireXcode", targets: ["QuireXcode"]),
    .library(name: "QuireTesting", targets: ["QuireTesting"]),
    .executable(name: "quire", targets: ["QuireTool"]),
    .plugin(name: "GenerateClasses", targets: ["GenerateClasses"]),
  ],
  dependencies: [],
  targets: [
    .target(name: "QuireStorage"),
    .target(name: "QuireModel"),
    .target(name: "Quire", dependencies: ["QuireModel", "QuireStorage"]),
    // What programs that use full Foundation anyway get besides: errors as `NSError`.
    .target(name: "QuireFoundation", dependencies: ["Quire", "QuireModel"]),
    .target(name: "QuireXcode", dependencies: ["Quire", "QuireModel"]),
    .target(name: "QuireTesting", dependencies: ["Quire", "QuireModel"]),
    // Core Data's own names, for programs that were written for Core Data.
    .target(
      name: "QuireCoreData", dependencies: ["Quire", "QuireFoundation", "QuireModel", "QuireXcode"]),
    .executableTarget(
      name: "QuireTool",
      dependencies: ["Quire", "QuireModel", "QuireStorage", "QuireTesting", "QuireXcode"]),
    // Writes the classes of a target's Xcode models before it is compiled.
    .plugin(
      name: "GenerateClasses", capability: .buildTool(), dependencies: ["QuireTool"],
      path: "Sources/GenerateClasses"),
    // A disk that can die at any moment, for the tests of every floor that writes.
    .target(
      name: "QuireSimulation", dependencies: ["QuireStorage"], path: "Tests/QuireSimulation"),
    .testTarget(
      name: "QuireStorageTests", dependencies: ["QuireSimulation", "QuireStorage"]),
    .testTarget(name: "QuireModelTests", dependencies: ["QuireModel", "QuireSimulation"]),
    .testTarget(
      name: "QuireTests",
      dependencies: [
        "Quire", "QuireFoundation", "QuireModel", "QuireSimulation", "QuireStorage",
        "QuireTesting",
      ],
      exclude: testsObjectsAlone
        ? [
          "Batches", "Errors", "Exchange", "History", "Migrations", "Notices", "Queries", "Results",
          "Salvage", "Stores",
        ] : []),
    .testTarget(
      name: "QuireXcodeTests",
      dependencies: [
        "Quire", "QuireModel", "QuireSimulation", "QuireStorage", "QuireTesting", "QuireXcode",
      ]),
    .testTarget(
      name: "QuireToolTests",
      dependencies: [
        "Quire", "QuireModel", "QuireSimulation", "QuireStorage", "QuireTesting", "QuireTool",
        "QuireXcode",
      ], exclude: ["PortCases"]),
    // An app as it was written for Core Data, and as it is with Quire: docs/porting.md.
    .testTarget(
      name: "PortedAppTests", dependencies: ["Quire", "QuireXcode"], exclude: ["Before"],
      resources: [.copy("Trips.xcdatamodeld")],
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    // Programs with Core Data's names, in the language mode that such programs have.
    .testTarget(
      name: "QuireCoreDataTests", dependencies: ["QuireCoreData", "QuireSimulation"],
      exclude: ["Ledger/Before"],
      resources: [.copy("Trips/Trips.xcdatamodeld")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // Three programs as they were written for Core Data, ported by `quire port`, with their own
    // tests: docs/core-data-names.md. They keep their language modes, and see of Quire what
    // programs of other packages see.
    .target(
      name: "Lark", dependencies: ["QuireCoreData"],
      path: "Tests/PortedPrograms/Lark/Ported/Lark",
      resources: [.copy("Model/Lark.xcdatamodeld")], packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "LarkTests", dependencies: ["Lark", "QuireCoreData"],
      path: "Tests/PortedPrograms/Lark/Ported/LarkTests", packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "CourierCore", dependencies: ["QuireCoreData"],
      path: "Tests/PortedPrograms/Courier/Ported/Core",
      resources: [.copy("Courier.xcdatamodeld")], packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CourierCoreTests", dependencies: ["CourierCore", "QuireCoreData"],
      path: "Tests/PortedPrograms/Courier/Ported/CoreTests", packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "Cellar", dependencies: ["QuireCoreData"],
      path: "Tests/PortedPrograms/Cellar/Ported/Sources/Cellar",
      resources: [.copy("Resources/Cellar.xcdatamodeld")], packageAccess: false),
    .testTarget(
      name: "CellarTests", dependencies: ["Cellar", "QuireCoreData"],
      path: "Tests/PortedPrograms/Cellar/Ported/Tests/CellarTests", packageAccess: false),
    // The guides of docs/guides: their code, compiled and run. The first of them is a program.
    .executableTarget(
      name: "GettingStarted", dependencies: ["Quire"], path: "Tests/GuideTests/GettingStarted"),
    .testTarget(
      name: "GuideTests",
      dependencies: [
        "GettingStarted", "Quire", "QuireFoundation", "QuireModel", "QuireSimulation",
        "QuireStorage", "QuireTesting", "QuireTool", "QuireXcode",
      ], exclude: ["GettingStarted", "Shop"]),
    .testTarget(name: "SourceTests"),
  ],
  swiftLanguageModes: [.v6]
)

if isBuiltForItself {
  package.targets.removeAll { $0.type == .plugin }
  package.products.removeAll { $0.name == "GenerateClasses" }
}

if testsObjectsAlone {
  package.targets.removeAll { $0.type == .test && $0.name != "QuireTests" }
}
