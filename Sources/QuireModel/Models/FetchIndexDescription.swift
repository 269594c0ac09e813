/// An index over properties of an entity, used to find objects without reading all of them.
///
/// ```swift
/// FetchIndex("byRatingAndPrice", on: "rating", .descending("price"), where: "price > 0")
/// FetchIndex("byFoldedTitle", on: .expression("canonical:(title)", type: "String"))
/// ```
///
/// ## Example
///
/// Whether a request is served by `FetchIndex("byPrice", on: "price")`:
///
/// ```swift
/// var request = FetchRequest<Artwork>()
/// request.predicate = Key("price") > 1_000
/// let explanation = try request.explain(in: context)
/// print(explanation.searches[0].source.kind)
/// ```
///
/// prints
///
/// ```
/// index(name: "Artwork.byPrice")
/// ```
public struct FetchIndexDescription: Hashable, Sendable {
  /// How an element is indexed: in the order of its values, or in space.
  public enum Kind: String, Sendable { case binary = "Binary", rTree = "RTree" }

  /// One property or expression of an index, and its direction.
  public struct Element: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name of an indexed property, when the element is one.
    public var property: String?
    /// The text of an indexed expression, when the element is one.
    public var expression: String?
    /// The name of the type of the expression's value, as Xcode shows it; `nil` when the model says
    /// none.
    public var expressionType: String?
    /// How the element is indexed.
    public var kind = Kind.binary
    /// Whether smaller values come first.
    public var isAscending = true

    /// A property: an attribute, a to-one relationship, or an element of a composite
    /// (`"home.city"`).
    public init(_ property: String, ascending: Bool = true) {
      self.property = property
      self.isAscending = ascending
    }

    /// An expression, ascending.
    ///
    /// - Parameter type: the name of the type of the expression's value, as Xcode shows it.
    public init(expression: String, type: String?) {
      self.expression = expression
      self.expressionType = type
    }

    public init(stringLiteral property: String) { self.init(property) }

    /// A property, smaller values first, as a bare name is as well.
    public static func ascending(_ property: String) -> Element { Element(property) }
    /// A property, larger values first.
    public static func descending(_ property: String) -> Element {
      Element(property, ascending: false)
    }

    /// - Parameter type: the name of the type of the expression's value, as Xcode shows it.
    public static func expression(
      _ text: String, type: String? = nil, ascending: Bool = true
    ) -> Element {
      var element = Element(expression: text, type: type)
      element.isAscending = ascending
      return element
    }

    /// One dimension of a spatial index.
    public static func rTree(_ property: String) -> Element {
      var element = Element(property)
      element.kind = .rTree
      return element
    }
  }

  /// The name, unique in the entity.
  public var name: String
  /// What the index is ordered by, the first element deciding before the second.
  public var elements: [Element]
  /// The format of a predicate: the index has only objects of which it is true.
  public var partialIndexPredicate: String?
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] = [:]

  /// An index over all objects of the entity, the first element deciding before the second.
  public init(_ name: String, _ elements: [Element]) {
    self.name = name
    self.elements = elements
  }

  /// An index over the elements, the first deciding before the second.
  ///
  /// - Parameters:
  ///   - elements: names of attributes, of to-one relationships and of elements of composite
  ///     attributes (`"home.city"`), ascending unless they say otherwise; expressions.
  ///   - predicate: the format of a predicate; the index then has only objects of which it is true.
  public init(
    _ name: String, on elements: Element..., where predicate: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.init(name, elements)
    partialIndexPredicate = predicate
    self.userInfo = userInfo
  }
}

/// The short name of ``FetchIndexDescription`` for models written in code.
public typealias FetchIndex = FetchIndexDescription
