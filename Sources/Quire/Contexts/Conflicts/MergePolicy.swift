/// What a save does with objects that another save has changed since they were read.
///
/// A save that meets conflicts calls the policy of its context
/// (``ManagedObjectContext/mergePolicy``) with all of them at once. The policy resolves them in the
/// context, or throws: then the save fails, and store and context are as they were.
///
/// Changes of the context are found by comparison with what was *fetched*, never with what the
/// store has now. So a property that was not changed here is taken from the store by every policy
/// but ``overwrite``.
///
/// The same holds for all policies but ``error``:
///
/// - An object that is gone from the store stays deleted: changes of it, and relationships to it,
///   are dropped, and the object becomes inaccessible.
/// - Of an object that is deleted here and changed there, ``mergeByPropertyObjectTrump`` and
///   ``overwrite`` delete what is there now, by its delete rules; ``mergeByPropertyStoreTrump`` and
///   ``rollback`` bring it back, with what its deletion has taken along by cascade rules.
/// - To-many relationships are merged member by member: members that either side has added are
///   there, those that either side has removed are not. A one-to-many relationship is changed where
///   it is stored, in its members.
/// - An order that was changed here wins with ``mergeByPropertyObjectTrump`` and ``overwrite``;
///   members that the other save has added come after those that they follow there. With
///   ``mergeByPropertyStoreTrump`` it wins where the store's members and their order are the same
///   as before. Where the store's order stays, members that were added here, or that ``overwrite``
///   brings back, come at the end, in the order that they have here.
///
/// After a merge objects are validated again, ``ManagedObject/willSave()`` is called of those that
/// it has changed if it was not called before, and both sides of every relationship agree.
///
/// Core Data's policies are one object each; here every use of a constant makes a new one, which
/// may be set on any context.
///
/// ## Uniqueness constraints
///
/// A save in which two objects would have the values of one constraint meets a
/// ``ConstraintConflict``. ``mergeByPropertyObjectTrump`` writes a new object over the one that the
/// store has: the latter keeps its ID, takes the values that the new one was given, and the new one
/// is removed. With ``mergeByPropertyStoreTrump`` the new one is removed with its values. With
/// ``overwrite`` the store's object is deleted, by its delete rules, and the new one stays.
/// ``rollback`` drops the new one. A changed object that has got another's values keeps them with
/// ``mergeByPropertyObjectTrump`` and ``overwrite``, and the other is deleted; it gets those
/// properties back as they were with ``mergeByPropertyStoreTrump``, all of them with ``rollback``.
/// Of objects that are all unsaved one stays: a changed one before new ones; of new ones the last
/// with ``mergeByPropertyObjectTrump`` and ``overwrite``, otherwise the first.
///
/// With every policy, where a new object is removed and another stays with its values,
/// relationships to the former then refer to the latter, in the same position of an order. There
/// are two exceptions: a to-one relationship of the survivor that refers elsewhere stays, unless
/// ``mergeByPropertyObjectTrump`` writes over it; and a relationship to another entity than the
/// survivor's then has no destination.
///
/// ## Custom policies
///
/// Override ``resolve(optimisticLockingConflicts:)`` or ``resolve(constraintConflicts:)``. The
/// store is locked for other writers while they are called: saving another context of the store in
/// one is an error, and other saves wait until it returns. The policy of a child context is called
/// for changed objects that its parent has deleted.
nonisolated open class MergePolicy {
  /// The rule by which the policy resolves conflicts, unless a method is overridden.
  public let mergeType: MergePolicyType

  /// A policy that resolves conflicts by one of the built-in rules.
  ///
  /// - Parameter merge: the rule; a subclass passes the one for conflicts that it does not resolve.
  public init(merge: MergePolicyType) { mergeType = merge }

  /// Resolves conflicts, of one context, by ``mergeType``: afterwards their objects show the
  /// result.
  ///
  /// An override may change the objects before or after it calls `super`, call it with some of the
  /// conflicts, pass some to another policy, or throw. Conflicts that it leaves are resolved as by
  /// ``mergeByPropertyObjectTrump``; a property that it has set to the fetched value wins, too.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectMerge`` with the conflicts, if the type is
  ///   ``MergePolicyType/errorMergePolicyType``; what the store throws when it is read. The save
  ///   throws the same.
  open func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
    guard let context = list.first?.sourceObject.managedObjectContext else { return }
    if mergeType == .errorMergePolicyType { throw context.mergeError(list.map(\.report)) }
    if context.parent != nil { return context.dropChanges(of: list) }
    let merge = try context.merge ?? Merge(context)
    try merge.resolve(list, by: mergeType)
  }

  /// Resolves conflicts about uniqueness, of one context, by ``mergeType``.
  ///
  /// An override may give objects other values, delete some, call `super` with some of the
  /// conflicts, or throw. If it changes nothing that is in conflict the save fails.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectConstraintMerge`` with the conflicts, if the
  ///   type is ``MergePolicyType/errorMergePolicyType``; what the store throws when it is read. The
  ///   save throws the same.
  open func resolve(constraintConflicts list: [ConstraintConflict]) throws {
    guard let context = list.first?.conflictingObjects.first?.managedObjectContext else { return }
    if mergeType == .errorMergePolicyType { throw context.constraintError(list.map(\.report)) }
    try ConstraintResolution(context).resolve(list, by: mergeType)
  }
}

extension ManagedObjectContext {
  /// What a save does with objects that another save has changed since they were read; at first
  /// it fails.
  public final var mergePolicy: MergePolicy {
    get {
      if let policy = attachments[MergePolicy.self] { return policy }
      let policy = MergePolicy.error
      attachments[MergePolicy.self] = policy
      return policy
    }
    set { attachments[MergePolicy.self] = newValue }
  }

  /// The conflicts that a policy is resolving; `nil` at all other times.
  final var merge: Merge? {
    get { attachments[Merge.self] }
    set {
      attachments[Merge.self] = newValue
      keepsEqualDestinations = newValue != nil
    }
  }

  /// The effects of a save's merge policy on objects, for notices after the save; `nil` at all
  /// other times.
  final var policyEffects: PolicyEffects? {
    get { attachments[PolicyEffects.self] }
    set { attachments[PolicyEffects.self] = newValue }
  }
}

extension MergePolicy {
  /// Whether the policy may change anything.
  var mayResolve: Bool {
    type(of: self) != MergePolicy.self || mergeType != .errorMergePolicyType
  }
}

/// The built-in rules of a ``MergePolicy``. Raw values are Core Data's.
public enum MergePolicyType: Int, Sendable, CaseIterable {
  /// The save fails: see ``MergePolicy/error``.
  case errorMergePolicyType = 0

  /// The store's changes win, property by property: see ``MergePolicy/mergeByPropertyStoreTrump``.
  case mergeByPropertyStoreTrumpMergePolicyType = 1

  /// The context's changes win, property by property: see
  /// ``MergePolicy/mergeByPropertyObjectTrump``.
  case mergeByPropertyObjectTrumpMergePolicyType = 2

  /// The context's objects win as a whole: see ``MergePolicy/overwrite``.
  case overwriteMergePolicyType = 3

  /// The store's objects win as a whole: see ``MergePolicy/rollback``.
  case rollbackMergePolicyType = 4
}

extension MergePolicy {
  /// The save fails with ``PersistenceError/Code/managedObjectMerge``, or with
  /// ``PersistenceError/Code/managedObjectConstraintMerge`` when values are not unique. The policy
  /// of new contexts.
  public static var error: MergePolicy { MergePolicy(merge: .errorMergePolicyType) }

  /// Property by property: changes of the store are kept, and changes of the context in all other
  /// properties.
  public static var mergeByPropertyStoreTrump: MergePolicy {
    MergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
  }

  /// Property by property: changes of the context are kept, and the store's values in all other
  /// properties.
  public static var mergeByPropertyObjectTrump: MergePolicy {
    MergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  /// All attributes and to-one relationships of conflicting objects are written as they are in the
  /// context, also over those that only the store has changed.
  public static var overwrite: MergePolicy { MergePolicy(merge: .overwriteMergePolicyType) }

  /// All changes of conflicting objects are dropped; those of other objects are saved.
  public static var rollback: MergePolicy { MergePolicy(merge: .rollbackMergePolicyType) }
}

// Core Data's older spellings.

/// ``MergePolicy/error``, under Core Data's older name. A new policy at each use.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var ErrorMergePolicy: MergePolicy { .error }

/// ``MergePolicy/mergeByPropertyStoreTrump``, under Core Data's older name. A new policy at each
/// use.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var MergeByPropertyStoreTrumpMergePolicy: MergePolicy { .mergeByPropertyStoreTrump }

/// ``MergePolicy/mergeByPropertyObjectTrump``, under Core Data's older name. A new policy at each
/// use.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var MergeByPropertyObjectTrumpMergePolicy: MergePolicy { .mergeByPropertyObjectTrump }

/// ``MergePolicy/overwrite``, under Core Data's older name. A new policy at each use.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var OverwriteMergePolicy: MergePolicy { .overwrite }

/// ``MergePolicy/rollback``, under Core Data's older name. A new policy at each use.
// swift-format-ignore: AlwaysUseLowerCamelCase
public var RollbackMergePolicy: MergePolicy { .rollback }
