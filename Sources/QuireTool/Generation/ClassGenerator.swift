import QuireModel

/// Writes a subclass of `ManagedObject` for each entity of a model.
///
/// In the form ``Form/classes`` the classes are the model: what it says of a property is said in
/// `@Managed(…)`, what no argument there says in `entityDeclaration`. The model that is made of the
/// classes (`ManagedObjectModel(for:)`) has the version checksum of the one that was read. What
/// nothing in Quire depends on is left out: the names of classes, scalar types, the old index flag,
/// Spotlight and encryption.
///
/// In the form ``Form/plain`` the classes have names and types of properties alone, for a model
/// from elsewhere.
package struct ClassGenerator {
  package enum Form: String, CaseIterable, Sendable { case classes, plain }

  private let model: ManagedObjectModel
  private let form: Form
  let naming: ClassNaming
  let code: ModelCode
  let inverses: InverseChoice

  private init(_ model: ManagedObjectModel, _ form: Form) {
    self.model = model
    self.form = form
    naming = ClassNaming(model)
    code = ModelCode(classNames: naming.all)
    inverses = InverseChoice(model)
  }

  /// The files of all classes.
  package static func code(of model: ManagedObjectModel, _ form: Form) -> GeneratedCode {
    let generator = ClassGenerator(model, form)
    let files = model.entities.map { entity in
      GeneratedFile(
        name: "\(generator.naming.name(of: entity)).swift", text: generator.text(of: entity))
    }
    return GeneratedCode(
      files: files.sorted { $0.name < $1.name }, notes: form == .classes ? generator.notes : [])
  }

  /// What belongs to no entity.
  private var notes: [String] {
    let declaration = model.declaration
    let parts = [
      ("fetch request templates", declaration.fetchRequestTemplates.map(\.name)),
      ("configurations", declaration.configurations.keys.sorted()),
      ("user info", declaration.userInfo.keys.sorted()),
      ("localized names", declaration.localizationDictionary.keys.sorted()),
    ]
    return parts.filter { !$0.1.isEmpty }.map { words, names in
      "not in the classes: the model's \(words) (\(names.joined(separator: ", ")))"
    }
  }

  /// Whether the other side of a relationship is a property of its class.
  func hasProperty(inverseOf relationship: RelationshipDescription) -> Bool {
    guard let inverse = model.inverse(of: relationship) else { return false }
    let owner = InverseChoice.owner(of: inverse.relationship, inverse.entity)
    guard let entity = model.entity(named: owner) else { return false }
    return SwiftNames.reasonAgainst(inverse.relationship.name, in: entity.declaration) == nil
  }

  private func text(of entity: EntityDescription) -> String {
    let written = WrittenEntity(entity, self)
    var sections: [[String]] = []
    if naming.overridesName(entity) {
      sections.append([
        "  override class var modelEntityName: \(code.type("String", of: "Swift")) { "
          + "\(SwiftLiteral.string(entity.name)) }"
      ])
    }
    var lines: [String] = []
    switch form {
    case .classes: lines = written.properties.flatMap { $0.lines(indent: 2) }
    case .plain: lines = written.plainLines
    }
    if !lines.isEmpty { sections.append(lines) }
    var usesFoundation = written.properties.contains {
      form == .classes ? $0.usesFoundation : $0.isOfFoundation
    }
    if form == .classes, let statement = written.entityDeclaration {
      usesFoundation = usesFoundation || statement.usesFoundation
      sections.append(
        ["  override class var entityDeclaration: \(code.type("Entity"))? {"]
          + statement.lines(indent: 4) + ["  }"])
    }
    let superclass =
      entity.parent.map { naming.name(of: $0) } ?? code.type("ManagedObject", of: "Quire")
    let head =
      "\(entity.subentityNames.isEmpty ? "final " : "")class \(naming.name(of: entity)): "
      + "\(superclass) {"
    let imports = (usesFoundation ? ["import Foundation"] : []) + ["import Quire", ""]
    let body = sections.isEmpty ? ["\(head)}"] : [head] + sections.joined(separator: [""]) + ["}"]
    return (imports + body).joined(separator: "\n") + "\n"
  }
}
