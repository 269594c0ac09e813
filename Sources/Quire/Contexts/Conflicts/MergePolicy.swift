/// What a save does with objects that somebody else has saved since they were read.
///
/// A context's policy (``ManagedObjectContext/mergePolicy``) is asked when a save meets conflicts,
/// with all of them at once. It resolves them in the context, or throws: then the save fails, and
/// store and context are as they were.
///
/// What was changed here is found by comparison with what was *fetched*, never with what the store
/// has now. So a property that nobody touched here is taken from the store, whatever the policy but
/// ``overwrite``.
///
/// The same holds for all policies but ``error``:
///
/// - An object that is gone from the store stays so: changes of it, and relationships to it, are
///   dropped, and the object becomes inaccessible.
/// - Of an object that is deleted here and changed there, ``mergeByPropertyObjectTrump`` and
///   ``overwrite`` delete what is there now, by its delete rules; ``mergeByPropertyStoreTrump`` and
///   ``rollback`` bring it back, with what its deletion has taken along by cascade rules.
/// - To-many relationships are merged member by member: what either side has added is there, what
///   either side has removed is not. A one-to-many relationship is changed where it is stored, in
///   its members.
/// - An order that was changed here wins with ``mergeByPropertyObjectTrump`` and ``overwrite``;
///   members that came there stand behind those that they follow there. With
///   ``mergeByPropertyStoreTrump`` it wins where the store's members and their order are the same
///   as before. Where the store's order stays, members that came here, or that ``overwrite`` brings
///   back, stand at the end, to each other as they did here.
///
/// After a merge objects are validated again, those that it has changed are told by
/// ``ManagedObject/willSave()`` if they were not, and both sides of every relationship agree.
///
/// Core Data's policies are one object each; here every use of a constant makes one, which may be
/// given to any context.
///
/// ## Uniqueness constraints
///
/// A save in which two objects would have the values of one constraint meets a
/// ``ConstraintConflict``. ``mergeByPropertyObjectTrump`` writes a new object over the one that the
/// store has: the latter keeps its ID, takes what the new one was given, and the new one goes.
/// With ``mergeByPropertyStoreTrump`` the new one goes, and the values that it was given with it.
/// With ``overwrite`` the store's object is deleted, by its delete rules, and the new one stays.
/// ``rollback`` drops the new one. A changed object that has come to have another's values keeps
/// them with ``mergeByPropertyObjectTrump`` and ``overwrite``, and the other is deleted; it gets
/// those properties back as they were with ``mergeByPropertyStoreTrump``, all of them with
/// ``rollback``. Of objects that are all unsaved one stays: a changed one before new ones; of new
/// ones the last with ``mergeByPropertyObjectTrump`` and ``overwrite``, otherwise the first.
///
/// Whatever the policy, where a new object goes and another stays with its values, what led to the
/// former leads to the latter, in the same place of an order. Two things stay as they are: a to-one
/// relationship of the survivor that leads elsewhere, unless ``mergeByPropertyObjectTrump`` writes
/// over it; and a relationship to another entity than the survivor's, which then leads nowhere.
///
/// ## Policies of one's own
///
/// Override ``resolve(optimisticLockingConflicts:)`` or ``resolve(constraintConflicts:)``. Both are
/// called while nobody else can write: saving another context of the store in one is an error,
/// waiting in it makes others wait. A child context asks about what its parent has deleted.
nonisolated open class MergePolicy {
  public let mergeType: MergePolicyType

  /// - Parameter merge: what ``resolve(optimisticLockingConflicts:)`` does unless overridden.
  public init(merge: MergePolicyType) { mergeType = merge }

  /// Resolves conflicts, of one context, by ``mergeType``: afterwards their objects show the
  /// result.
  ///
  /// An override may change the objects before or after it calls `super`, call it with some of the
  /// conflicts, hand some to another policy, or throw. Conflicts that it leaves are resolved as by
  /// ``mergeByPropertyObjectTrump``, but that also a property wins which it has set to what was
  /// fetched.
  ///
  /// - Throws: ``PersistenceError/Code/managedObjectMerge`` with the conflicts, if the type is
  ///   ``MergePolicyType/errorMergePolicyType``; what the store throws when it is read. The save
  ///   throws it on.
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
  ///   save throws it on.
  open func resolve(constraintConflicts list: [ConstraintConflict]) throws {
    guard let context = list.first?.conflictingObjects.first?.managedObjectContext else { return }
    if mergeType == .errorMergePolicyType { throw context.constraintError(list.map(\.report)) }
    try ConstraintResolution(context).resolve(list, by: mergeType)
  }
}

/// What a ``MergePolicy`` does. Raw values are Core Data's.
public enum MergePolicyType: Int, Sendable, CaseIterable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

extension MergePolicy {
  /// The save fails with ``PersistenceError/Code/managedObjectMerge``. What contexts have at first.
  public static var error: MergePolicy { MergePolicy(merge: .errorMergePolicyType) }

  /// Property by property: what the store has changed is kept, and of the rest what was changed
  /// here.
  public static var mergeByPropertyStoreTrump: MergePolicy {
    MergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
  }

  /// Property by property: what was changed here, and of the rest what the store has.
  public static var mergeByPropertyObjectTrump: MergePolicy {
    MergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  /// All attributes and to-one relationships of conflicting objects become what they are here, also
  /// those that only the store has changed.
  public static var overwrite: MergePolicy { MergePolicy(merge: .overwriteMergePolicyType) }

  /// All changes of conflicting objects are dropped; those of other objects are saved.
  public static var rollback: MergePolicy { MergePolicy(merge: .rollbackMergePolicyType) }
}

// Core Data's older spellings.

// swift-format-ignore: AlwaysUseLowerCamelCase
public var ErrorMergePolicy: MergePolicy { .error }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var MergeByPropertyStoreTrumpMergePolicy: MergePolicy { .mergeByPropertyStoreTrump }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var MergeByPropertyObjectTrumpMergePolicy: MergePolicy { .mergeByPropertyObjectTrump }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var OverwriteMergePolicy: MergePolicy { .overwrite }
// swift-format-ignore: AlwaysUseLowerCamelCase
public var RollbackMergePolicy: MergePolicy { .rollback }
