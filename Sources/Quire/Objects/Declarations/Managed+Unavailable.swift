// Declarations that cannot mean anything, with what to write instead: without these the compiler
// would ask classes of objects to conform to `Decodable`, as elements of transformable values do.

extension Managed {
  /// A to-many relationship is never `nil`: one without objects is empty.
  @available(
    *, unavailable,
    message: "a to-many relationship is empty and never nil: declare a Set without question mark"
  )
  public init<Element: ManagedObject>() where Value == Set<Element>? {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// A to-many relationship is never `nil`: one without objects is empty.
  @available(
    *, unavailable,
    message: "a to-many relationship is empty and never nil: declare an array without question mark"
  )
  public init<Element: ManagedObject>() where Value == [Element]? {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// A relationship is not unique, indexed or external.
  @available(
    *, unavailable,
    message: "options are for attributes: a relationship has inverse, deleteRule, count, transient"
  )
  public init(
    _ options: AttributeOptions, _ second: AttributeOptions = [], _ third: AttributeOptions = []
  ) where Value: ToManyManagedValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// A relationship is not unique, indexed or external.
  @available(
    *, unavailable,
    message: "options are for attributes: a relationship has inverse, deleteRule, count, transient"
  )
  public init(
    _ options: AttributeOptions, _ second: AttributeOptions = [], _ third: AttributeOptions = []
  ) where Value: ToOneManagedValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// An array or a set that is not optional is a relationship, and so are its elements objects.
  @available(
    *, unavailable,
    message:
      "a transformable attribute may have no value: make the property optional ([String]? can have a default, too), or conform a type of your own to ManagedValue; arrays and sets without question mark are relationships"
  )
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ options: AttributeOptions = [],
    _ second: AttributeOptions = [], _ third: AttributeOptions = [],
    transformer: @autoclosure () -> String? = nil, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: TransformableValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// The same without a default.
  @available(
    *, unavailable,
    message:
      "a transformable attribute may have no value: make the property optional, or conform a type of your own to ManagedValue; arrays and sets without question mark are relationships"
  )
  public init(
    _ options: AttributeOptions = [], _ second: AttributeOptions = [],
    _ third: AttributeOptions = [], transformer: @autoclosure () -> String? = nil,
    renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) where Value: TransformableValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// A type that no property can have, with a default.
  @available(
    *, unavailable,
    message:
      "a @Managed property is an attribute's type or its optional (an enumeration with raw values conforms to ManagedAttribute), an object or its optional, a set or an array of objects, or an optional TransformableValue"
  )
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ options: AttributeOptions = [],
    _ second: AttributeOptions = [], _ third: AttributeOptions = [],
    transformer: @autoclosure () -> String? = nil, renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// The same without a default.
  @available(
    *, unavailable,
    message:
      "a @Managed property is an attribute's type or its optional (an enumeration with raw values conforms to ManagedAttribute), an object or its optional, a set or an array of objects, or an optional TransformableValue"
  )
  public init(
    _ options: AttributeOptions, _ second: AttributeOptions = [], _ third: AttributeOptions = [],
    transformer: @autoclosure () -> String? = nil,
    renamedFrom: @autoclosure () -> String? = nil,
    versionHashModifier: @autoclosure () -> String? = nil
  ) {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }
}
