import QuireModel

/// A property of a managed object, declared in one line.
///
/// ```swift
/// final class Employee: ManagedObject {
///   @Managed var firstName: String
///   @Managed var salary: Int16
///   @Managed var dateHired: Date?
///   @Managed var boss: Boss?
///   @Managed var reports: Set<Employee>
/// }
/// ```
///
/// The property has the name of the model's. A value type stands for the attribute's, optional or
/// not: a property that is not optional reads an empty value (0, "", …) where the object has none.
/// A to-one relationship's is an optional object, a to-many relationship's a set or an array, which
/// is never `nil`. A to-one relationship may be declared without the question mark: where there is
/// no destination it then reads a new object that belongs to no context, and shows empty values.
///
/// Reading never throws: where the store cannot be read, the empty value is returned and the
/// context throws the error from its next fetch or save. That is also so in a class that conforms
/// to `CustomReflectable`: its properties are found by the mirror that every class has.
// Only what needs it asks for a `ManagedValue`: the runtime, which names a class's properties,
// would look for the conformance of each type among all that a process has, a tenth of a
// millisecond each.
@propertyWrapper
@frozen
public struct Managed<Value> {
  /// The property's slot, found at the first access; 255 before, and where it is higher than 253.
  /// 254 marks a property that is being looked for or, in an object that is made to tell what its
  /// class declares, one that declares something.
  ///
  /// One byte, as there may be many objects.
  @usableFromInline var slot: UInt8

  @inlinable public init() where Value: ManagedValue { slot = 255 }

  // What no property can be, with what to write. They lie before the compiler's own message, which
  // would speak of conformances.

  @available(
    *, unavailable,
    message:
      "a @Managed property is an attribute's type or its optional, an object or its optional, a set or an array of objects (write these for NSSet and NSOrderedSet), or an optional TransformableValue"
  )
  public init() { preconditionFailure("unavailable: the compiler lets nobody come here") }

  @available(
    *, unavailable,
    message:
      "a to-many relationship is never nil, only empty: write Set<…> or […] without a question mark"
  )
  public init() where Value: OptionalToManyValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  @available(
    *, unavailable,
    message:
      "a transformable attribute may have no value: make the property optional, or conform its type to ManagedValue"
  )
  public init() where Value: TransformableValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// The property is used through the object it belongs to.
  @available(
    *, unavailable, message: "@Managed is for properties of classes: ManagedObject subclasses"
  )
  public var wrappedValue: Value {
    get { preconditionFailure("unavailable: the compiler lets nobody come here") }
    set { preconditionFailure("unavailable: the compiler lets nobody come here") }
  }

  /// The property itself, for what can be asked without its value: `artwork.$artist.objectID`.
  @available(
    *, unavailable, message: "@Managed is for properties of classes: ManagedObject subclasses"
  )
  public var projectedValue: ManagedProperty<Value> {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  // Inlined into the property of another module, where the key path is known, the wrapper is one
  // look at the object's memory. For that the key path must not be handed on: a slot that is not
  // known yet is found by the wrapper's address. And nothing may be called while the wrapper is
  // accessed: where the compiler sees the whole class, it then knows that no two accesses can meet,
  // and checks none.
  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<Object, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Object, Self>
  ) -> Value where Value: ManagedValue {
    @inline(__always) get {
      var slot = Int(object[keyPath: storageKeyPath].slot)
      if slot >= 254 {
        slot = object.findSlot(
          ofPropertyAt: withUnsafeMutablePointer(to: &object[keyPath: storageKeyPath]) {
            UInt(bitPattern: $0)
          })
      }
      if slot < 0 { return Value.empty }
      do {
        return try Value.read(from: object, slot)
      } catch {
        object.keepReadError(error)
        return Value.empty
      }
    }
    @inline(__always) set {
      var slot = Int(object[keyPath: storageKeyPath].slot)
      if slot >= 254 {
        slot = object.findSlot(
          ofPropertyAt: withUnsafeMutablePointer(to: &object[keyPath: storageKeyPath]) {
            UInt(bitPattern: $0)
          })
      }
      if slot < 0 { return }
      do {
        try Value.write(newValue, to: object, slot)
      } catch {
        object.keep(error)
      }
    }
  }

  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object,
    projected projectedKeyPath: KeyPath<Object, ManagedProperty<Value>>,
    storage storageKeyPath: ReferenceWritableKeyPath<Object, Self>
  ) -> ManagedProperty<Value> {
    @inline(__always) get {
      var slot = Int(object[keyPath: storageKeyPath].slot)
      if slot >= 254 {
        slot = object.findSlot(
          ofPropertyAt: withUnsafeMutablePointer(to: &object[keyPath: storageKeyPath]) {
            UInt(bitPattern: $0)
          })
      }
      return ManagedProperty(of: object, slot)
    }
  }
}

/// A type that a ``Managed`` property can have.
public protocol ManagedValue {
  /// What a property shows when there is no value.
  static var empty: Self { get }
  static func read(from object: ManagedObject, _ slot: Int) throws -> Self
  static func write(_ value: Self, to object: ManagedObject, _ slot: Int) throws
}

/// A type whose optional a ``Managed`` property can have.
public protocol OptionalManagedValue {
  static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Self?
  static func writeOptional(_ value: Self?, to object: ManagedObject, _ slot: Int) throws
}

extension Optional: ManagedValue where Wrapped: OptionalManagedValue {
  @inlinable public static var empty: Wrapped? { nil }
  @inlinable public static func read(from object: ManagedObject, _ slot: Int) throws -> Wrapped? {
    try Wrapped.readOptional(from: object, slot)
  }
  @inlinable public static func write(_ value: Wrapped?, to object: ManagedObject, _ slot: Int)
    throws
  {
    try Wrapped.writeOptional(value, to: object, slot)
  }
}

// MARK: - Relationships

extension ManagedObject: OptionalManagedValue, ManagedValue {
  /// What a to-one property that is not optional shows where there is no destination: an object of
  /// no context, which is lost with what is set on it.
  public static var empty: Self { emptyObject(.unknown(named: entityName)) }

  public static func read(from object: ManagedObject, _ slot: Int) throws -> Self {
    if let destination = try readOptional(from: object, slot) { return destination }
    let name = object.binding.relationship(slot).destination
    let model = object.context?.modelBinding
    let binding = object.context?.persistentStoreCoordinator?.classes.entity(of: Self.self)
    return emptyObject(binding ?? model?.entity(named: name) ?? .unknown(named: name))
  }

  public static func write(_ value: ManagedObject, to object: ManagedObject, _ slot: Int) throws {
    try writeOptional(value, to: object, slot)
  }

  private static func emptyObject(_ binding: EntityBinding) -> Self {
    let object = Self(Origin(ObjectArena(binding)))
    object.applyDefaults()
    return object
  }

  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Self? {
    let destination = try object.one(object.checkedRelationship(slot, isToMany: false))
    guard let destination else { return nil }
    // Mostly an object is of the very class; that is known sooner than whether it descends from it.
    if type(of: destination) == Self.self { return unsafeDowncast(destination, to: Self.self) }
    guard let typed = destination as? Self else {
      throw object.unacceptable(destination, for: object.binding.properties[slot].name)
    }
    return typed
  }

  public static func writeOptional(_ value: ManagedObject?, to object: ManagedObject, _ slot: Int)
    throws
  {
    try object.reportingElsewhere([value]) {
      try object.setOne(object.checkedRelationship(slot, isToMany: false), value)
    }
  }

  /// Refuses a property declared as another kind of property than the model's.
  final func checkedRelationship(_ slot: Int, isToMany: Bool) throws -> Int {
    let trait = binding.traits[slot]
    if trait.attributeType == nil, trait.isToMany == isToMany { return slot }
    throw PersistenceError(
      .unacceptableValue,
      "\(entity.name).\(binding.properties[slot].name) is declared as a "
        + (isToMany ? "collection of objects" : "single object") + ", the model says otherwise")
  }
}

/// An optional set or array of objects, which no property is.
public protocol OptionalToManyValue {}

extension Optional: OptionalToManyValue where Wrapped: ToManyManagedValue {}

extension Set: ManagedValue where Element: ManagedObject {
  public static var empty: Set<Element> { [] }

  // Inlined, so that the set is made by code for its very elements. It takes each reference over
  // from who has found the object, and counts none.
  @inlinable
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Set<Element> {
    var members: Set<Element> = []
    try object.takeMembers(slot, willTake: { members.reserveCapacity($0) }) { member in
      if type(of: member) != Element.self, !(member is Element) {
        throw object.isNoDestination(member, of: slot)
      }
      // Sound: checked just now.
      members.insert(unsafeDowncast(consume member, to: Element.self))
    }
    return members
  }
  // Inlined as well: the objects pass into an array by code for their very class.
  @inlinable
  public static func write(_ value: Set<Element>, to object: ManagedObject, _ slot: Int) throws {
    var members: [ManagedObject] = []
    members.reserveCapacity(value.count)
    for member in value { members.append(member) }
    try object.setMembers(ofProperty: slot, distinct: members)
  }
}

extension Array: ManagedValue where Element: ManagedObject {
  public static var empty: [Element] { [] }
  public static func read(from object: ManagedObject, _ slot: Int) throws -> [Element] {
    var members = ObjectBuffer()
    try object.takeMembers(slot, willTake: { members.reserve($0) }) { member in
      if type(of: member) != Element.self, !(member is Element) {
        throw object.isNoDestination(member, of: slot)
      }
      members.append(consume member)
    }
    return members.take(as: Element.self)
  }
  public static func write(_ value: [Element], to object: ManagedObject, _ slot: Int) throws {
    try object.reportingElsewhere(value) {
      try object.setMembers(object.checkedRelationship(slot, isToMany: true), value)
    }
  }
}
