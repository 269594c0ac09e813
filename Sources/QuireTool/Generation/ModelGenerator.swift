import QuireModel

/// Writes a model as one file of Swift code, in the words of models: the model that the code makes
/// has the declaration of the one that was read.
package enum ModelGenerator {
  /// - Parameters:
  ///   - name: of the type that has the function, and of the file.
  ///   - title: of the model, for the comment.
  package static func code(
    of model: ManagedObjectModel, name: String, title: String
  ) -> GeneratedCode {
    let code = ModelCode(classNames: ClassNaming(model).all.union([name]))
    let statement = self.statement(model, code)
    let translations = model.localizationDictionary
    var lines = statement.usesFoundation ? ["import Foundation"] : []
    lines += ["import Quire", "", "/// The model \(title.filter { !$0.isNewline })."]
    lines.append("enum \(name) {")
    lines.append("  static func make() throws -> \(code.type("ManagedObjectModel")) {")
    if translations.isEmpty {
      var body = statement.lines(indent: 4)
      body[0] = "    try " + body[0].dropFirst(4)
      lines += body
    } else {
      var body = statement.lines(indent: 4)
      body[0] = "    let model = try " + body[0].dropFirst(4)
      lines += body
      lines += ["    return try model.settingLocalizationDictionary("]
      lines += [SwiftArgument(nil, .texts(translations))].lines(before: ")", indent: 6)
    }
    lines += ["  }", "}"]
    return GeneratedCode(
      files: [GeneratedFile(name: "\(name).swift", text: lines.joined(separator: "\n") + "\n")])
  }

  private static func statement(
    _ model: ManagedObjectModel, _ code: ModelCode
  ) -> SwiftStatement {
    let declaration = model.declaration
    var arguments: [SwiftArgument] = []
    if !declaration.versionIdentifiers.isEmpty {
      arguments.append(
        SwiftArgument("versionIdentifiers", .strings(declaration.versionIdentifiers)))
    }
    if !declaration.userInfo.isEmpty {
      arguments.append(SwiftArgument("userInfo", .texts(declaration.userInfo)))
    }
    var statement = SwiftStatement(code.type("ManagedObjectModel"), arguments)
    statement.hasBraces = true
    statement.members = declaration.entities.map { entity in
      code.statement(
        entity, isInClass: false,
        members: entity.attributes.map { code.statement($0) }
          + entity.relationships.map { code.statement($0) })
    }
    for (name, entities) in declaration.configurations.sorted(by: { $0.key < $1.key }) {
      statement.members.append(
        SwiftStatement(
          code.type("ModelConfiguration"),
          ([name] + entities).map { SwiftArgument(text: SwiftLiteral.string($0)) }))
    }
    statement.members += declaration.fetchRequestTemplates.map { code.statement($0) }
    return statement
  }
}
