/// A declaration in a file, a type or an extension; bodies of functions are not looked into.
struct SwiftDeclaration {
  enum Kind {
    case type, `extension`, property, function, initializer, other, `import`
  }

  struct Attribute {
    /// `objc` of `@objc(Trip)`.
    var name: String
    /// From the at sign to the end of the arguments.
    var tokens: Range<Int>
    /// The arguments without spaces and parentheses; `nil` without parentheses.
    var argument: String?
  }

  var kind: Kind
  /// The token of `class`, `var`, `func` and so on.
  var keyword: Int
  /// `Trip`, `Outer.Trip` for an extension, `CoreData` for an import. A nested type has the names
  /// of the types around it.
  var name: String
  var attributes: [Attribute] = []
  /// Tokens of words such as `public` and `dynamic`.
  var modifiers: [Int] = []
  /// All tokens, from the first attribute or modifier on. Of a property the initial value and the
  /// accessors are not counted in, but for a computed one that says its type.
  var tokens: Range<Int>
  /// The tokens of the braces of a type, an extension, a function or a computed property.
  var braces: (open: Int, close: Int)?
  /// The parentheses of a function.
  var parameters: (open: Int, close: Int)?
  /// The superclass and protocols, without spaces.
  var inherited: [String] = []
  /// The tokens of a property's type.
  var type: Range<Int>?
  /// The type or extension around, by its index among the file's declarations.
  var parent: Int?
  /// The conditions of the `#if` blocks around.
  var conditions: [String] = []

  func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }
}
