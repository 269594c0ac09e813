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
// `Value` is constrained to `ManagedValue` only where that is needed: when the runtime names the
// properties of a class, it would otherwise search all conformances of the process for each type,
// which takes a tenth of a millisecond.
@propertyWrapper
@frozen
public struct Managed<Value> {
  /// The property's slot, found at the first access; 255 before, and where it is higher than 253.
  /// 254 marks a property that is being looked for or, in an object that is made to tell what its
  /// class declares, one that declares something.
  ///
  /// One byte, as there may be many objects.
  @usableFromInline var slot: UInt8

  /// Declares a property of the model, found by its name when an object of the class first uses it.
  ///
  /// The types are those of ``ManagedValue``: of an attribute, its optional, an object or its
  /// optional, a set or an array of objects. Another type does not compile. Names and types are
  /// compared with the model when a store is added.
  @inlinable public init() where Value: ManagedValue { slot = 255 }

  // Types that no property can have, with messages that say what to write instead. Without these
  // declarations the compiler's message would speak of missing conformances.

  @available(
    *, unavailable,
    message:
      "a @Managed property is an attribute's type or its optional (an enumeration with raw values conforms to ManagedAttribute), an object or its optional, a set or an array of objects (write these for NSSet and NSOrderedSet), or an optional TransformableValue"
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
      "a transformable attribute may have no value: make the property optional, or conform a type of your own to ManagedValue; arrays and sets without question mark are relationships"
  )
  public init() where Value: TransformableValue {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  /// The value, which only the object that has the property can give.
  @available(
    *, unavailable, message: "@Managed is for properties of classes: ManagedObject subclasses"
  )
  public var wrappedValue: Value {
    get { preconditionFailure("unavailable: the compiler lets nobody come here") }
    set { preconditionFailure("unavailable: the compiler lets nobody come here") }
  }

  /// The property itself, for questions that need no value: `artwork.$artist.objectID`.
  @available(
    *, unavailable, message: "@Managed is for properties of classes: ManagedObject subclasses"
  )
  public var projectedValue: ManagedProperty<Value> {
    preconditionFailure("unavailable: the compiler lets nobody come here")
  }

  // Inlined into a property of another module, where the key path is known, the slot is read by one
  // load from the object's memory. For that the key path must not be passed on: a slot that is not
  // known yet is found by the wrapper's address. And nothing may be called while the wrapper is
  // accessed: where the compiler sees the whole class, it then knows that accesses never overlap,
  // and leaves the checks out.

  /// Reads or sets the property of an object; the compiler calls this for each use of the property.
  ///
  /// Neither throws. An error is kept in ``ManagedObjectContext/keptErrors`` of the object's
  /// context, for its next fetch or save to throw, and reading returns ``ManagedValue/empty``.
  /// Setting a relationship changes its inverse as well.
  ///
  /// - Complexity: O(1) where the object's row was read, otherwise one row is read, O(log *n*). A
  ///   to-many relationship takes O(members) to read and to set.
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

  /// The property itself, under its name with a dollar sign; the compiler calls this. Nothing is
  /// read from the store.
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

  /// The value of a property of an object; ``empty`` where the object has none.
  ///
  /// Conformances come with ``ManagedAttribute``, ``TransformableValue`` and the library's own
  /// types; a program need not write this function.
  ///
  /// - Parameters:
  ///   - object: the object; a fault is read.
  ///   - slot: the number of the property in the object's entity.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when the model's property is of another
  ///   kind, or its value cannot be shown as this type, and what reading the store throws.
  static func read(from object: ManagedObject, _ slot: Int) throws -> Self

  /// Sets a property of an object, and of a relationship the inverse as well.
  ///
  /// - Parameters:
  ///   - value: the new value.
  ///   - object: the object, which has unsaved changes afterwards.
  ///   - slot: the number of the property in the object's entity.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when the model's property cannot have
  ///   such a value; ``PersistenceError/Code/managedObjectExternalRelationship`` when it is an
  ///   object of another context or store; and what reading a fault throws.
  static func write(_ value: Self, to object: ManagedObject, _ slot: Int) throws
}

/// A type whose optional a ``Managed`` property can have.
public protocol OptionalManagedValue {
  /// The value of a property of an object; `nil` where the object has none.
  ///
  /// - Parameters:
  ///   - object: the object; a fault is read.
  ///   - slot: the number of the property in the object's entity.
  /// - Throws: as ``ManagedValue/read(from:_:)``.
  static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Self?

  /// Sets a property of an object, or clears it.
  ///
  /// - Parameters:
  ///   - value: the new value; `nil` for none.
  ///   - object: the object, which has unsaved changes afterwards.
  ///   - slot: the number of the property in the object's entity.
  /// - Throws: as ``ManagedValue/write(_:to:_:)``.
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
  /// The value of a to-one property that is not optional where there is no destination: a new
  /// object without a context. What is set on it is never saved.
  public static var empty: Self { emptyObject(.unknown(named: modelEntityName)) }

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
    // Most objects are of exactly this class. Comparing classes is faster than a cast.
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

/// An optional set or array of objects, which no property can be: see ``Managed``.
public protocol OptionalToManyValue {}

extension Optional: OptionalToManyValue where Wrapped: ToManyManagedValue {}

extension Set: ManagedValue where Element: ManagedObject {
  public static var empty: Set<Element> { [] }

  // Inlined, so that the set is made by code that is specialised for its elements. Each reference
  // is moved into the set and not retained again.
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
  // Inlined as well: the objects are copied into an array by code specialised for their class.
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
