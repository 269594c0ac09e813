// swift-tools-version: 6.2
import PackageDescription

// Apart from the library, because its peers are system libraries: Quire itself needs none.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "quire-bench", targets: ["QuireBench"])],
  dependencies: [.package(name: "Quire", path: "..")],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .executableTarget(
      name: "QuireBench",
      dependencies: [
        "CLMDB",
        "CSQLite",
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireStorage", package: "Quire"),
        .product(name: "QuireTesting", package: "Quire"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
