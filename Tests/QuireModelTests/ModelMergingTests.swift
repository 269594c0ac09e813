import QuireModel
import Testing

@Suite struct ModelMergingTests {
  @Test func `a merged model has what all have, and what they share once`() throws {
    let first = try ManagedObjectModel(versionIdentifiers: ["1"], userInfo: ["a": "1"]) {
      Entity("Person") {
        Attribute("name", .string)
        Attribute("born", .date)
      }
      Entity("Room")
      ModelConfiguration("Cloud", "Person")
      FetchRequestTemplate("all", of: "Person")
    }.settingLocalizationDictionary(["Entity/Person": "Mensch", "Entity/Room": "Raum"])
    let second = try ManagedObjectModel(versionIdentifiers: ["1", "2"], userInfo: ["b": "2"]) {
      Entity("Person") {
        Attribute("born", .date)
        Attribute("name", .string)
      }
      Entity("Pupil", parent: "Person")
      ModelConfiguration("Cloud", "Pupil", "Person")
      FetchRequestTemplate("all", of: "Person")
      FetchRequestTemplate("pupils", of: "Pupil")
    }.settingLocalizationDictionary(["Entity/Person": "Person"])
    let merged = try ManagedObjectModel(byMerging: [first, second])
    #expect(merged.entities.map(\.name) == ["Person", "Pupil", "Room"])
    #expect(merged.versionIdentifiers == ["1", "2"])
    #expect(merged.configurations == ["Cloud": ["Person", "Pupil"]])
    #expect(merged.fetchRequestTemplates.map(\.name) == ["all", "pupils"])
    #expect(merged.userInfo == ["a": "1", "b": "2"])
    #expect(merged.localizationDictionary == ["Entity/Person": "Person", "Entity/Room": "Raum"])
    #expect(merged.entity(named: "Person") == first.entity(named: "Person"))
    #expect(try ManagedObjectModel(byMerging: []).entities.isEmpty)
  }

  @Test func `models that contradict each other are refused, and the error says where`() throws {
    func check(_ what: String, _ change: (inout ModelDeclaration) -> Void) throws {
      let declaration = ModelDeclaration {
        Entity("Person") {
          Attribute("name", .string)
          Relationship("friends", toMany: "Person")
          UniquenessConstraint("name")
          FetchIndex("byName", on: "name")
          FetchedProperty("namesakes", of: "Person", where: "name == $FETCH_SOURCE.name")
        }
        Entity("Being")
        FetchRequestTemplate("all", of: "Person")
      }.with { $0.userInfo = ["a": "1"] }
      let other = declaration.with(change)
      let models = [try ManagedObjectModel(declaration), try ManagedObjectModel(other)]
      #expect {
        try ManagedObjectModel(byMerging: models)
      } throws: {
        "\($0)".contains(what) && "\($0)".contains("that are merged")
      }
    }
    try check("its attribute name differs") { $0.entities[0].attributes[0].type = .uri }
    try check("its attribute name differs") { $0.entities[0].attributes[0].defaultValue = "Ana" }
    try check("its attribute born differs") {
      $0.entities[0].attributes.append(Attribute("born", .date))
    }
    try check("its relationship friends differs") {
      $0.entities[0].relationships[0].deleteRule = .cascade
    }
    try check("its index byName differs") { $0.entities[0].indexes = [] }
    try check("its fetched property namesakes differs") {
      $0.entities[0].fetchedProperties[0].request.fetchLimit = 3
    }
    try check("its uniqueness constraints differ") { $0.entities[0].uniquenessConstraints = [] }
    try check("its parent is none and Being") { $0.entities[0].parent = "Being" }
    try check("its class is none and Human") {
      $0.entities[0].managedObjectClassName = "Human"
    }
    try check("its flags, identifiers or user info differ") { $0.entities[0].isAbstract = true }
    try check("fetch request template all asks for different objects") {
      $0.fetchRequestTemplates[0].fetchLimit = 3
    }
    try check("the user info has “1” and “2” for a") { $0.userInfo["a"] = "2" }
  }

  @Test func `of versions with the same hashes the last has its say`() throws {
    func model(_ format: String, _ info: String) throws -> ManagedObjectModel {
      var declaration = ModelDeclaration {
        Entity("Person") { Attribute("name", .string) }
        FetchRequestTemplate("some", of: "Person", where: format)
      }
      declaration.userInfo = ["version": info]
      return try ManagedObjectModel(declaration)
    }
    let (first, second) = (try model("name != nil", "1"), try model("name == nil", "2"))
    let hashes = first.entityVersionHashesByName
    #expect(second.entityVersionHashesByName == hashes)
    for models in [[first, second], [second, first]] {
      let chosen = try ManagedObjectModel(byMerging: models, forVersionHashes: hashes)
      #expect(chosen.declaration == models[1].declaration)
    }
  }

  @Test func `a store's hashes choose its entities among all versions`() throws {
    let first = try ManagedObjectModel {
      Entity("Person") { Attribute("name", .string) }
      Entity("Room")
      ModelConfiguration("Cloud", "Person")
      FetchRequestTemplate("all", of: "Person", where: "name != nil")
    }
    let second = try ManagedObjectModel {
      Entity("Person") { Attribute("fullName", .string, renamedFrom: "name") }
      Entity("Room") { Attribute("number", .integer16) }
      FetchRequestTemplate("all", of: "Person", where: "fullName != nil")
    }
    for model in [first, second] {
      let chosen = try ManagedObjectModel(
        byMerging: [first, second], forVersionHashes: model.entityVersionHashesByName)
      #expect(chosen.declaration == model.declaration)
      let metadata = [StoreModelVersionHashesKey: model.entityVersionHashesByName]
      #expect(
        try ManagedObjectModel(byMerging: [first, second], forStoreMetadata: metadata) == model)
    }
    // A store of two models, of which one moved on.
    var hashes = second.entityVersionHashesByName
    hashes["Person"] = first.entityVersionHashesByName["Person"]
    let mixed = try ManagedObjectModel(byMerging: [first, second], forVersionHashes: hashes)
    #expect(mixed.entityVersionHashesByName == hashes)
    #expect(mixed.fetchRequestTemplates.isEmpty && mixed.configurations.isEmpty)
    #expect {
      try ManagedObjectModel(
        byMerging: [second], forVersionHashes: first.entityVersionHashesByName)
    } throws: {
      let error = $0 as? ModelError
      return error?.entity == "Person" && error?.reason == .noSuchVersion
    }
    #expect {
      try ManagedObjectModel(byMerging: [second], forStoreMetadata: [:])
    } throws: {
      ($0 as? ModelError)?.reason == .noVersionHashes(key: StoreModelVersionHashesKey)
    }
  }
}

extension ModelDeclaration {
  fileprivate func with(_ change: (inout ModelDeclaration) -> Void) -> ModelDeclaration {
    var copy = self
    change(&copy)
    return copy
  }
}
