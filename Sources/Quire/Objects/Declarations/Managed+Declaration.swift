import QuireModel

// Properties that say more than their types: of these a model is made
// (``QuireModel/ManagedObjectModel/init(for:)``).
//
// All of this runs for each object that comes into being. So arguments are closures, which are
// called while a class is being looked at, and for all other objects there is one look at a number.

extension Managed {
  // MARK: Attributes

  /// An attribute with a default value, which new objects have, and with what else is so of it:
  /// `@Managed(range: 0...5) var rating: Int16 = 3`.
  ///
  /// A value that is another one each time, as `UUID()` and `Date()` are, is made for each new
  /// object. The rows that a migration gives a new attribute have constant defaults only.
  ///
  /// - Parameters:
  ///   - range: the smallest and the largest number, or the earliest and the latest date.
  ///   - length: the number of characters of a text.
  ///   - pattern: a regular expression for the whole of a text.
  ///   - derivedFrom: the expression that computes the value at each save: `artworks.@count`. The
  ///     default is what new objects have until then, and those whose expression has no value.
  ///   - transformer: the name under which the transformer of a transformable value is registered;
  ///     without one the bytes are those of ``CodableTransformer``.
  ///   - renamedFrom: the name of the property in an earlier version of the class.
  ///   - versionHashModifier: any text; another text makes another version of the attribute.
  @inlinable
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ options: AttributeOptions = [],
    _ second: AttributeOptions = [], _ third: AttributeOptions = [],
    range: @autoclosure () -> (any AttributeLimits)? = nil,
    length: @autoclosure () -> (any AttributeLimits<Int>)? = nil,
    pattern: @autoclosure () -> String? = nil, derivedFrom: @autoclosure () -> String? = nil,
    transformer: @autoclosure () -> String? = nil, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ManagedValue & AttributeManagedValue {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordAttribute(
        [options, second, third], range: range(), length: length(), pattern: pattern(),
        derivedFrom: derivedFrom(),
        transformer: transformer(), renamedFrom: renamedFrom(),
        versionHashModifier: versionHashModifier(), default: wrappedValue)
    }
  }

  /// An attribute of which more is so than its type says: `@Managed(.unique) var slug: String`,
  /// `@Managed(.indexed, .keptInHistory) var year: Int16`.
  ///
  /// One that is not optional has to be set before the object is saved.
  ///
  /// - Parameters:
  ///   - range: the smallest and the largest number, or the earliest and the latest date.
  ///   - length: the number of characters of a text.
  ///   - pattern: a regular expression for the whole of a text.
  ///   - derivedFrom: the expression that computes the value at each save: `artworks.@count`.
  ///   - transformer: the name under which the transformer of a transformable value is registered;
  ///     without one the bytes are those of ``CodableTransformer``.
  ///   - renamedFrom: the name of the property in an earlier version of the class.
  ///   - versionHashModifier: any text; another text makes another version of the attribute.
  @inlinable
  public init(
    _ options: AttributeOptions = [], _ second: AttributeOptions = [],
    _ third: AttributeOptions = [], range: @autoclosure () -> (any AttributeLimits)? = nil,
    length: @autoclosure () -> (any AttributeLimits<Int>)? = nil,
    pattern: @autoclosure () -> String? = nil, derivedFrom: @autoclosure () -> String? = nil,
    transformer: @autoclosure () -> String? = nil, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ManagedValue & AttributeManagedValue {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordAttribute(
        [options, second, third], range: range(), length: length(), pattern: pattern(),
        derivedFrom: derivedFrom(),
        transformer: transformer(), renamedFrom: renamedFrom(),
        versionHashModifier: versionHashModifier(), default: nil as (@Sendable () -> Value)?)
    }
  }

  // MARK: To-many relationships

  /// A to-many relationship with its inverse:
  /// `@Managed(inverse: \Artwork.artist, deleteRule: .cascade) var artworks: Set<Artwork>`.
  ///
  /// An array is an ordered relationship, a set one without an order.
  ///
  /// - Parameters:
  ///   - inverse: the property that refers back. One side of a pair says it; if both did so by key
  ///     paths, each would need the type of the other, which the compiler calls a circular
  ///     reference. The other side may say it by name.
  ///   - deleteRule: what happens to the destinations when the object is deleted.
  ///   - count: how many destinations are legal.
  ///   - transient: whether the destinations live in memory alone.
  ///   - renamedFrom: the name of the property in an earlier version of the class.
  ///   - versionHashModifier: any text; another text makes another version of the relationship.
  @inlinable
  public init<Back>(
    inverse: @autoclosure () -> KeyPath<Value.Member, Back> & Sendable,
    deleteRule: DeleteRule = .nullify, count: @autoclosure () -> ClosedRange<Int> = 0...Int.max,
    transient: Bool = false, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ToManyManagedValue {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordRelationship(
        inverse: inverse(), deleteRule: deleteRule, count: count(), transient: transient,
        renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
    }
  }

  /// The same, declared with the empty collection that a relationship begins as in any case.
  @inlinable
  public init<Back>(
    wrappedValue: @autoclosure () -> Value,
    inverse: @autoclosure () -> KeyPath<Value.Member, Back> & Sendable,
    deleteRule: DeleteRule = .nullify, count: @autoclosure () -> ClosedRange<Int> = 0...Int.max,
    transient: Bool = false, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ToManyManagedValue {
    self.init(
      inverse: inverse(), deleteRule: deleteRule, count: count(), transient: transient,
      renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
  }

  /// The same, declared with the empty collection that a relationship begins as in any case.
  @inlinable
  public init(
    wrappedValue: @autoclosure () -> Value, inverse: @autoclosure () -> InverseName = .unsaid,
    deleteRule: DeleteRule = .nullify, count: @autoclosure () -> ClosedRange<Int> = 0...Int.max,
    transient: Bool = false, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ToManyManagedValue {
    self.init(
      inverse: inverse(), deleteRule: deleteRule, count: count(), transient: transient,
      renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
  }

  /// A to-many relationship whose inverse is named, or whose other side says it.
  ///
  /// - Parameter inverse: the name of the property that refers back; `nil` where two relationships
  ///   refer to each other's classes and are not each other's inverse.
  @inlinable
  public init(
    inverse: @autoclosure () -> InverseName = .unsaid, deleteRule: DeleteRule = .nullify,
    count: @autoclosure () -> ClosedRange<Int> = 0...Int.max, transient: Bool = false,
    renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ToManyManagedValue {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordRelationship(
        inverse: inverse(), deleteRule: deleteRule, count: count(), transient: transient,
        renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
    }
  }

  // MARK: To-one relationships

  /// A to-one relationship with its inverse:
  /// `@Managed(inverse: \Artist.artworks) var artist: Artist?`.
  ///
  /// - Parameters:
  ///   - inverse: the property that refers back. One side of a pair says it, see the initialiser of
  ///     to-many relationships.
  ///   - deleteRule: what happens to the destination when the object is deleted.
  ///   - minCount: 0 or 1. It adds nothing to the type, but it counts in the version hash: Xcode
  ///     writes 1 into some models.
  ///   - transient: whether the destination lives in memory alone.
  ///   - renamedFrom: the name of the property in an earlier version of the class.
  ///   - versionHashModifier: any text; another text makes another version of the relationship.
  @inlinable
  public init<Destination: ManagedObject, Back>(
    inverse: @autoclosure () -> KeyPath<Destination, Back> & Sendable,
    deleteRule: DeleteRule = .nullify, minCount: Int = 0, transient: Bool = false,
    renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value == Destination? {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordRelationship(
        inverse: inverse(), deleteRule: deleteRule, count: minCount...max(minCount, 1),
        transient: transient,
        renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
    }
  }

  /// A to-one relationship that has to lead somewhere when the object is saved, with its inverse.
  @inlinable
  public init<Back>(
    inverse: @autoclosure () -> KeyPath<Value, Back> & Sendable, deleteRule: DeleteRule = .nullify,
    minCount: Int = 0, transient: Bool = false, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ManagedObject {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordRelationship(
        inverse: inverse(), deleteRule: deleteRule, count: minCount...max(minCount, 1),
        transient: transient,
        renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
    }
  }

  /// The same, declared with the `nil` that a relationship begins as in any case.
  @inlinable
  public init<Destination: ManagedObject, Back>(
    wrappedValue: @autoclosure () -> Value,
    inverse: @autoclosure () -> KeyPath<Destination, Back> & Sendable,
    deleteRule: DeleteRule = .nullify, minCount: Int = 0, transient: Bool = false,
    renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value == Destination? {
    self.init(
      inverse: inverse(), deleteRule: deleteRule, minCount: minCount, transient: transient,
      renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
  }

  /// The same, declared with the `nil` that a relationship begins as in any case.
  @inlinable
  public init(
    wrappedValue: @autoclosure () -> Value, inverse: @autoclosure () -> InverseName = .unsaid,
    deleteRule: DeleteRule = .nullify, minCount: Int = 0, transient: Bool = false,
    renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ToOneManagedValue {
    self.init(
      inverse: inverse(), deleteRule: deleteRule, minCount: minCount, transient: transient,
      renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
  }

  /// A to-one relationship whose inverse is named, or whose other side says it.
  ///
  /// - Parameter inverse: the name of the property that refers back; `nil` where two relationships
  ///   refer to each other's classes and are not each other's inverse.
  @inlinable
  public init(
    inverse: @autoclosure () -> InverseName = .unsaid, deleteRule: DeleteRule = .nullify,
    minCount: Int = 0, transient: Bool = false, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: ToOneManagedValue {
    slot = 255
    if DeclarationRecorder.isRecording {
      slot = DeclarationRecorder.recordRelationship(
        inverse: inverse(), deleteRule: deleteRule, count: minCount...max(minCount, 1),
        transient: transient,
        renamedFrom: renamedFrom(), versionHashModifier: versionHashModifier())
    }
  }
}
