import Quire
import Testing

/// An object that asks about another in the midst of its own validation, and turns a value off.
private final class Switch: ManagedObject {
  @Managed var isOn: Bool
  @Managed var level: Double
  @Managed var label: String?
  weak var other: Switch?

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if let other {
      var foreign: Any? = "x"
      try? other.validateValue(&foreign, forKey: "label")
    }
    switch key {
    case "isOn" where value as? Bool == true: value = false
    // The same bits under another type.
    case "level" where value as? Double == 0: value = 0
    default: break
    }
    try super.validateValue(&value, forKey: key)
  }
}

private let switches = try! ManagedObjectModel {
  Entity("Switch") {
    Attribute("isOn", .boolean, optional: false, default: false)
    Attribute("level", .double, optional: false, default: 0.0)
    Attribute("label", .string, optional: false)
  }
}

/// An object with rules of its own.
private final class User: ManagedObject {
  struct Reserved: Error {}
  @Managed var name: String?
  @Managed var email: String?
  @Managed var age: Int
  @Managed var friends: Set<User>
  @Managed var boss: User?

  var asked: [String] = []
  var saves = 0

  override func willSave() { saves += 1 }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    asked.append(key)
    switch key {
    case "email": if let text = value as? String { value = text.lowercased() }
    case "age": return
    case "friends":
      if let friends = value as? MutableMembers, friends.contains(self) {
        throw PersistenceError(.managedObjectValidation, "nobody is a friend of himself")
      }
    case "boss": if value as? User === self { value = nil }
    default: break
    }
    try super.validateValue(&value, forKey: key)
    if key == "name", value as? String == "admin" { throw Reserved() }
  }
}

private let model = try! ManagedObjectModel {
  Entity("User") {
    Attribute("name", .string, optional: false, length: 2...8)
    Attribute("email", .string, pattern: "[^A-Z]*")
    Attribute("age", .integer16, range: 0...150)
    Relationship("friends", toMany: "User", inverse: "friendOf", count: 0...2)
    Relationship("friendOf", toMany: "User", inverse: "friends")
    Relationship("boss", toOne: "User", inverse: "staff")
    Relationship("staff", toMany: "User", inverse: "boss")
  }
}

@Suite struct ValidateValueTests {
  @Test(arguments: GotchaHome.allCases)
  func `a value of one byte that is turned off is taken, and one of another type is the same`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(switches, classes: [Switch.self]) { context in
      let (one, other) = (Switch(context: context), Switch(context: context))
      (one.label, other.label) = ("one", "other")
      one.isOn = true
      try context.save()
      #expect(!one.isOn && !other.isOn && one.level == 0)
      context.refresh(one, mergeChanges: false)
      #expect(!one.isOn)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `who asks about another object meanwhile is validated all the same`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(switches, classes: [Switch.self]) { context in
      let (one, other) = (Switch(context: context), Switch(context: context))
      other.label = "other"
      one.other = other
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty && error?.key == "label")
      #expect(error?.objectID == one.objectID)
      one.label = "one"
      try context.save()
    }
  }

  private func user(_ name: String?, _ context: ManagedObjectContext) -> User {
    let user = User(context: context)
    user.name = name
    return user
  }

  private func withContext(
    _ home: GotchaHome, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    try home.withContext(model, classes: [User.self], body)
  }

  @Test(arguments: GotchaHome.allCases)
  func `a new object is asked about all properties, another about those that were set`(
    _ home: GotchaHome
  ) throws {
    try withContext(home) { context in
      let user = user("Ada", context)
      try context.save()
      #expect(user.asked == ["age", "email", "name", "boss", "friendOf", "friends", "staff"])
      user.asked = []
      try context.save()
      user.age = 3
      user.boss = self.user("Bea", context)
      try context.save()
      #expect(user.asked == ["age", "boss"])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a value changed by validation is saved, and willSave is called once`(
    _ home: GotchaHome
  ) throws {
    try withContext(home) { context in
      let user = user("Ada", context)
      user.email = "Ada@Example.org"
      user.boss = user
      try context.save()
      #expect(user.email == "ada@example.org" && user.boss == nil && user.saves == 1)
      #expect(try user.mutableSetValue(forKey: "staff").isEmpty)
      user.email = "ADA"
      try context.save()
      context.refresh(user, mergeChanges: false)
      #expect(user.email == "ada" && user.saves == 2 && user.version == 2)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a class's errors are collected with the model's; a single one is thrown as it is`(
    _ home: GotchaHome
  ) throws {
    try withContext(home) { context in
      let (ada, bea) = (user("admin", context), user("much too long", context))
      bea.friends = [bea]
      let other = user(nil, context)
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      let errors = error?.detailedErrors ?? []
      #expect(
        errors.map { "\($0.code) \($0.key ?? "-")" }
          == ["1550 name", "1660 name", "1550 friends", "1570 name"])
      #expect(
        errors.map(\.objectID) == [ada.objectID, bea.objectID, bea.objectID, other.objectID])
      #expect(errors.first?.underlying is User.Reserved)
      #expect(errors.last { $0.key == "friends" }?.message == "nobody is a friend of himself")
      for user in [bea, other] { context.delete(user) }
      #expect(throws: User.Reserved.self) { try context.save() }
      ada.name = "Ada"
      try context.save()
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `without super the model's rules are out of force, but for what the type holds`(
    _ home: GotchaHome
  ) throws {
    try withContext(home) { context in
      let user = user("Ada", context)
      user.age = 200
      try context.save()
      #expect(user.age == 200)
      user.age = 70_000
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .validationNumberTooLarge && error?.key == "age")
    }
  }

  @Test func `a form can ask about a value before it is set`() throws {
    try withContext(.memory) { context in
      let plain = user("Ada", context)
      func fault(_ value: Any?, _ key: String) -> Int? {
        var value = value
        do {
          try plain.validateValue(&value, forKey: key)
          return nil
        } catch { return code(of: error)?.rawValue }
      }
      #expect(fault("Ada", "name") == nil && fault("A", "name") == 1670)
      #expect(fault(nil, "name") == 1570 && fault(5, "name") == 1_340_002)
      #expect(fault(5, "nome") == 1_340_001)
      let others = (0..<3).map { _ in user("Bea", context) }
      #expect(fault(Set(others), "friends") == 1590 && fault(Set(others[..<2]), "friends") == nil)
      #expect(plain.name == "Ada" && plain.friends.isEmpty)
    }
  }
}
