/// The result of reading a store: what was read, and what was left out.
public struct ImportReport: Sendable {
  /// A reference that was left out, on both sides.
  public struct DanglingReference: Hashable, Sendable {
    /// Why a reference was left out.
    public enum Reason: Hashable, Sendable {
      /// There is no row with the key.
      case missing
      /// The row is of an entity that the relationship does not refer to.
      case wrongEntity(String)
      /// The other side of a one-to-one relationship says otherwise.
      case taken
    }

    /// The entity of the object that the reference belonged to.
    public var entity: String
    /// That object's key.
    public var key: Int64
    /// The name of the relationship.
    public var relationship: String
    /// The entity of the object that it referred to, as the store has it.
    public var destination: String
    /// That object's key.
    public var destinationKey: Int64
    /// Why the reference was left out.
    public var reason: Reason

    /// - Parameters:
    ///   - key: of the object that the reference belonged to.
    ///   - destinationKey: of the object that it referred to.
    public init(
      entity: String, key: Int64, relationship: String, destination: String,
      destinationKey: Int64, reason: Reason
    ) {
      self.entity = entity
      self.key = key
      self.relationship = relationship
      self.destination = destination
      self.destinationKey = destinationKey
      self.reason = reason
    }
  }

  /// A value that is not of its attribute's type, and was left out.
  public struct UnreadableValue: Hashable, Sendable {
    /// The entity of the object.
    public var entity: String
    /// The object's key.
    public var key: Int64
    /// The name of the attribute; an element of a composite with its path.
    public var attribute: String
    /// The stored value, shortened.
    public var found: String
    /// What the attribute's type would be.
    public var expected: String
  }

  /// A value that lies in a file of its own which is not there, and was left out.
  public struct MissingFile: Hashable, Sendable {
    /// The entity of the object.
    public var entity: String
    /// The object's key.
    public var key: Int64
    /// The name of the attribute.
    public var attribute: String
    /// The name of the file that is not there.
    public var file: String
  }

  /// The path of the store.
  public var source: String
  /// The UUID that the store has in Core Data.
  public var storeUUID: String
  /// The name of the version whose structure the store has.
  public var version: String
  /// Objects by the name of their entity, subentities counted for themselves.
  public var objectCounts: [String: Int] = [:]
  /// Links by relationship, as in `Artwork.artist`; both sides of a pair are counted.
  public var linkCounts: [String: Int] = [:]
  /// References that were left out, on both sides.
  public var danglingReferences: [DanglingReference] = []
  /// Values that were left out because they are not of their attributes' types.
  public var unreadableValues: [UnreadableValue] = []
  /// Values that were left out because their files are not there.
  public var missingFiles: [MissingFile] = []
  /// The number of objects without a value for a required attribute, by names such as
  /// `Artwork.title`.
  public var missingRequiredValues: [String: Int] = [:]
  /// Further remarks on the import.
  public var notes: [String] = []

  /// The number of all objects.
  public var objectCount: Int { objectCounts.values.reduce(0, +) }

  /// Whether everything in the store was taken over.
  public var isComplete: Bool {
    danglingReferences.isEmpty && unreadableValues.isEmpty && missingFiles.isEmpty
  }
}

extension ImportReport: CustomStringConvertible {
  /// A readable page; of long lists the beginning.
  public var description: String {
    var lines = ["\(source)", "store \(storeUUID), version “\(version)”, \(objectCount) objects"]
    lines += objectCounts.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
    let links = linkCounts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
    if !links.isEmpty { lines.append("links") }
    lines += links.map { "  \($0.key): \($0.value)" }
    lines += Self.section("references to nothing, left out", danglingReferences)
    lines += Self.section("values that could not be read, left out", unreadableValues)
    lines += Self.section("files of values that are missing", missingFiles)
    let required = missingRequiredValues.sorted { $0.key < $1.key }
    lines += Self.section(
      "required values that are missing", required.map { "\($0.key): \($0.value)" })
    lines += Self.section("notes", notes)
    return lines.joined(separator: "\n")
  }

  private static func section(_ title: String, _ entries: [some CustomStringConvertible])
    -> [String]
  {
    if entries.isEmpty { return [] }
    let shown = entries.prefix(20).map { "  \($0)" }
    let rest = entries.count > 20 ? ["  … and \(entries.count - 20) more"] : []
    return ["\(title): \(entries.count)"] + shown + rest
  }
}

extension ImportReport.DanglingReference: CustomStringConvertible {
  public var description: String {
    let why =
      switch reason {
      case .missing: "which is not there"
      case .wrongEntity(let name): "which is of entity \(name)"
      case .taken: "which refers to another object"
      }
    return "\(entity) \(key).\(relationship) refers to \(destination) \(destinationKey), \(why)"
  }
}

extension ImportReport.UnreadableValue: CustomStringConvertible {
  public var description: String {
    "\(entity) \(key).\(attribute) is \(found), which is no \(expected)"
  }
}

extension ImportReport.MissingFile: CustomStringConvertible {
  public var description: String { "\(entity) \(key).\(attribute): \(file)" }
}
