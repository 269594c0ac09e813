import QuireModel
import QuireSimulation
import Testing

/// Models that are small as a text and large, or deep, once they are resolved.
@Suite struct ModelLimitsTests {
  private func chain(_ count: Int, attributes: Int = 1) -> [Entity] {
    (0..<count).map { level in
      var entity = Entity("E\(level)", parent: level == 0 ? nil : "E\(level - 1)")
      entity.attributes = (0..<attributes).map { AttributeDescription("a\(level)_\($0)", .string) }
      return entity
    }
  }

  private func nested(_ depth: Int) -> AttributeDescription {
    var attribute = AttributeDescription("leaf", .string)
    for level in 0..<depth {
      var outer = AttributeDescription("c\(level)", .composite)
      outer.elements = [attribute]
      attribute = outer
    }
    return attribute
  }

  private func reason(_ entities: [Entity]) -> ModelError.Reason? {
    do {
      _ = try ManagedObjectModel(entities: entities)
      return nil
    } catch { return error.reason }
  }

  private func archived(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    try ModelArchive.encode(model).withUnsafeBytes { try ModelArchive.decode($0) }
  }

  private func seconds(_ work: () throws -> Void) rethrows -> Double {
    try processorTime(work) / .seconds(1)
  }

  @Test func `an entity may have as many ancestors as is stated and no more`() throws {
    let most = ManagedObjectModel.maximumAncestorCount
    let model = try ManagedObjectModel(entities: chain(most + 1))
    #expect(model.entity(named: "E\(most)")?.attributes.count == most + 1)
    let archive = try archived(model)
    #expect(archive == model)
    #expect(try ManagedObjectModel(byMerging: [model, model]) == model)
    #expect(ModelDifference(from: model, to: model).isEmpty)
    #expect(
      reason(chain(most + 2))
        == .limit("has more than \(most) ancestors"))
  }

  @Test func `very deep inheritance is refused at once`() {
    let time = seconds {
      #expect(reason(chain(20_000)) != nil)
    }
    #expect(time < 10, "\(time) s")
  }

  @Test func `composites may be nested as deep as is stated and no deeper`() throws {
    let most = ManagedObjectModel.maximumCompositeDepth
    var entity = Entity("E")
    entity.attributes = [nested(most)]
    let model = try ManagedObjectModel(entities: [entity])
    #expect(try archived(model) == model)
    #expect(ModelDifference(from: model, to: model).isEmpty)
    entity.attributes = [nested(most + 1)]
    #expect(reason([entity]) == .limit("has composites that are nested more than \(most) deep"))
  }

  @Test func `a default value may be nested as deep as composites and no deeper`() throws {
    let most = ManagedObjectModel.maximumCompositeDepth
    func entity(_ depth: Int) -> Entity {
      var value = AttributeValue.string("leaf")
      for level in 0..<depth { value = .composite(["c\(level)": value]) }
      var entity = Entity("E")
      entity.attributes = [AttributeDescription("a", .composite, default: value)]
      return entity
    }
    let model = try ManagedObjectModel(entities: [entity(most)])
    #expect(try archived(model) == model)
    #expect(reason([entity(most + 1)]) != nil)
  }

  @Test func `inherited properties count toward the limit of a model`() {
    var entities = [Entity("Root")]
    entities[0].attributes = (0..<1_000).map { AttributeDescription("a\($0)", .string) }
    entities += (0..<1_000).map { Entity("E\($0)", parent: "Root") }
    let most = ManagedObjectModel.maximumPropertyCount
    #expect(
      reason(entities)
        == .limit(
          "brings the model over \(most) properties, indexes and constraints, of which inherited "
            + "ones and elements of composites count"))
  }

  @Test func `many relationships between two entities are resolved in linear time`() throws {
    func model(_ count: Int) -> [Entity] {
      [("A", "B"), ("B", "A")].map { own, other in
        var entity = Entity(own)
        entity.relationships = (0..<count).map {
          var relationship = RelationshipDescription("\(own)\($0)", toOne: other)
          relationship.inverse = own == "A" ? "\(other)\($0)" : nil
          return relationship
        }
        return entity
      }
    }
    let time = try seconds {
      let resolved = try ManagedObjectModel(entities: model(10_000))
      #expect(resolved.entity(named: "B")?.relationship(named: "B77")?.inverse == "A77")
    }
    #expect(time < 10, "\(time) s")
  }

  @Test func `a long chain of derived attributes is followed in linear time`() throws {
    var entity = Entity("E")
    let count = Amount.of(debug: 6_000, release: 20_000)
    entity.attributes = (0..<count).map {
      AttributeDescription(
        "a\($0)", .string, derivedFrom: $0 == 0 ? "base" : "canonical:(a\($0 - 1))")
    }
    entity.attributes.append(AttributeDescription("base", .string))
    let time = try seconds { _ = try ManagedObjectModel(entities: [entity]) }
    #expect(time < 10, "\(time) s")
    entity.attributes[0].derivationExpression = "a\(count - 1)"
    #expect(reason([entity]) != nil)
  }

  @Test func `versions that rename everything are compared in linear time`() throws {
    func model(_ version: Int) throws -> ManagedObjectModel {
      var entity = Entity("E")
      entity.attributes = (0..<5_000).map {
        AttributeDescription("v\(version)_\($0)", .string, renamedFrom: "a\($0)")
      }
      return try ManagedObjectModel(entities: [entity])
    }
    let (old, new) = try (model(1), model(2))
    let time = seconds {
      let difference = ModelDifference(from: old, to: new)
      #expect(difference.entities.first?.attributes.count == 5_000)
    }
    #expect(time < 10, "\(time) s")
  }
}
