import Quire
import Testing

/// A new object with a unique value that the store has already, and a policy that makes them one.
///
/// The new object was left without a context: what was set to it afterwards was lost without an
/// error, and the ID that was taken before the save found nothing.
@Suite struct `Upserts` {
  final class User: ManagedObject {
    @Managed(.unique) var email: String
    @Managed var visits: Int = 0
    @Managed var name: String = ""
    @Managed(inverse: \Group.users) var group: Group?
    @Managed(inverse: \Post.author) var posts: Set<Post>
    @Managed var friends: Set<User>
  }
  final class Group: ManagedObject {
    @Managed var title: String = ""
    @Managed var users: [User]
  }
  final class Post: ManagedObject {
    @Managed var text: String = ""
    @Managed var author: User?
  }

  static func container() throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Upsert", for: User.self, Group.self, Post.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let user = User(context: context)
    (user.email, user.visits, user.name) = ("ada@example.org", 5, "Ada")
    Post(context: context).author = user
    try context.save()
    return container
  }

  @Test(arguments: [true, false])
  func `an upserted object takes changes, relationships and a deletion as any other`(
    _ isObjectTrump: Bool
  ) throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    context.mergePolicy =
      isObjectTrump ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
    let user = User(context: context)
    let before = user.objectID
    (user.email, user.name) = ("ada@example.org", "Countess")
    try context.save()
    // It is the one that the store has.
    #expect(user.visits == 5)
    #expect(user.name == (isObjectTrump ? "Countess" : "Ada"))
    #expect(user.objectID.description == "User/p1" && !user.objectID.isTemporaryID)
    #expect(user.managedObjectContext === context)
    #expect(user.posts.count == 1)
    // It is in the context, and stays what it is.
    context.insert(user)
    context.refresh(user, mergeChanges: true)
    #expect(user.visits == 5 && user.objectID.description == "User/p1")
    user.visits += 1
    user.group = Group(context: context)
    user.group?.title = "Peers"
    let post = Post(context: context)
    post.author = user
    try user.setValue("Lovelace", forKey: "name")
    let friend = User(context: context)
    friend.email = "b@example.org"
    friend.friends = [user]
    user.friends.insert(friend)
    try context.save()

    let check = container.newBackgroundContext()
    let users = try check.fetch(User.sorted(by: \.email))
    #expect(users.map(\.email) == ["ada@example.org", "b@example.org"])
    #expect(users[0].visits == 6 && users[0].name == "Lovelace")
    #expect(users[0].posts.count == 2 && users[0].group?.title == "Peers")
    #expect(users[0].friends == [users[1]] && users[1].friends == [users[0]])
    #expect(try check.existingObject(with: before) === users[0])
    #expect(context.object(with: before)?.objectID == users[0].objectID)

    context.delete(user)
    try context.save()
    #expect(try check.count(for: User.fetchRequest()) == 1)
  }

  @Test func `an ID that leads out of a write finds the object`() async throws {
    let container = try Self.container()
    let id = try await container.write { context in
      context.mergePolicy = .mergeByPropertyObjectTrump
      let user = User(context: context)
      user.email = "ada@example.org"
      return user.objectID
    }
    let visits = try container.readAndWait { try ($0.existingObject(with: id) as? User)?.visits }
    #expect(visits == 5)
  }

  @Test func `two new objects that become one are one`() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let users = (0..<3).map { _ in User(context: context) }
    for (number, user) in users.enumerated() {
      user.email = "ada@example.org"
      user.visits = 10 + number
    }
    try context.save()
    #expect(Set(users.map(\.objectID.description)) == ["User/p1"])
    #expect(users.map(\.visits) == [12, 12, 12])
    users[0].visits = 20
    #expect(users.map(\.visits) == [20, 20, 20])
    try context.save()
    let visits = try container.readAndWait { try $0.fetch(User.fetchRequest()).map(\.visits) }
    #expect(visits == [20])
  }

  @Test func `a save that fails leaves the new object what it is`() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let user = User(context: context)
    user.email = "ada@example.org"
    let rival = User(context: context)
    // The other one has no value that it must have.
    #expect(throws: PersistenceError.self) { try context.save() }
    #expect(user.isInserted && user.objectID.isTemporaryID && user.visits == 0)
    rival.email = "b@example.org"
    try context.save()
    #expect(user.objectID.description == "User/p1" && user.visits == 5)
    #expect(rival.objectID.description != "User/p1")
  }
}
