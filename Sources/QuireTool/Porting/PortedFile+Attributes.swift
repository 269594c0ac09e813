extension PortedFile {
  private static let attributes: Set<String> = ["objc", "nonobjc", "objcMembers"]
  /// Classes that are no `NSObject` in `QuireCoreData`, apart from managed objects.
  private static let swiftClasses: Set<String> = [
    "NSEntityMigrationPolicy", "NSMergePolicy", "NSSecureUnarchiveFromDataTransformer",
    "ValueTransformer",
  ]

  /// Removes what tells the Objective-C runtime of managed objects and of policies; lists it
  /// elsewhere.
  mutating func portAttributes(_ classes: ManagedClasses) {
    for declaration in declarations {
      let found = declaration.attributes.filter { Self.attributes.contains($0.name) }
      let dynamic = declaration.modifiers.filter { source.isWord($0, "dynamic") }
      if found.isEmpty, dynamic.isEmpty { continue }
      let parent = declaration.parent.map { declarations[$0] }
      if [declaration, parent].contains(where: { $0.map { isOfSwift($0, classes) } ?? false }) {
        remove(words: found.map(\.tokens) + dynamic.map { $0..<$0 + 1 })
        checkName(declaration, classes)
      } else if usesCoreData {
        for attribute in found {
          record(
            "@\(attribute.name)", atToken: attribute.tokens.lowerBound,
            "left as it is; it compiles on Apple's platforms alone, so remove it for others")
        }
      }
    }
  }

  /// Whether a declaration is of a class that the Objective-C runtime does not know after the port.
  private func isOfSwift(_ declaration: SwiftDeclaration, _ classes: ManagedClasses) -> Bool {
    let superclass = declaration.kind == .type ? declaration.inherited.first : nil
    return classes.isManaged(declaration, in: self)
      || superclass.map(Self.swiftClasses.contains) ?? false
  }

  /// Lists a class that the model finds by another name than Swift's.
  private mutating func checkName(_ declaration: SwiftDeclaration, _ classes: ManagedClasses) {
    guard declaration.kind == .type, let name = declaration.attribute("objc")?.argument,
      name != declaration.name.split(separator: ".").last ?? "",
      classes.isManaged(declaration, in: self)
    else { return }
    record(
      "@objc(\(name)) class \(declaration.name)", atToken: declaration.keyword,
      "the attribute is gone: write \(declaration.name) as the entity's class in the model")
  }
}
