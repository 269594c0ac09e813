// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Cellar",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [.library(name: "Cellar", targets: ["Cellar"])],
  targets: [
    .target(name: "Cellar", resources: [.process("Resources")]),
    .testTarget(name: "CellarTests", dependencies: ["Cellar"]),
  ]
)
