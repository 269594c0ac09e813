// swift-tools-version: 5.9
import PackageDescription

let package = Package(
  name: "Courier",
  platforms: [.macOS(.v13)],
  products: [
    .library(name: "CourierCore", targets: ["CourierCore"]),
    .executable(name: "courier", targets: ["courier"]),
  ],
  targets: [
    .target(
      name: "CourierCore",
      path: "Core",
      resources: [.copy("Courier.xcdatamodeld")]
    ),
    .executableTarget(name: "courier", dependencies: ["CourierCore"], path: "CommandLine"),
    .testTarget(name: "CourierCoreTests", dependencies: ["CourierCore"], path: "CoreTests"),
  ]
)
