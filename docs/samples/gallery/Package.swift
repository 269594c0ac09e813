// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Gallery",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "gallery", targets: ["GalleryTool"])],
  // The folder of this copy of Quire. A package of yours has the URL of the repository here.
  dependencies: [.package(name: "Quire", path: "../../..")],
  targets: [
    // The classes, and what the gallery does with them.
    .target(name: "Gallery", dependencies: [.product(name: "Quire", package: "Quire")]),
    // The command line.
    .executableTarget(name: "GalleryTool", dependencies: ["Gallery"]),
    .testTarget(
      name: "GalleryTests",
      dependencies: [
        "Gallery",
        .product(name: "Quire", package: "Quire"),
        .product(name: "QuireTesting", package: "Quire"),
      ],
      exclude: ["Fixtures"]),
  ],
  swiftLanguageModes: [.v6]
)
