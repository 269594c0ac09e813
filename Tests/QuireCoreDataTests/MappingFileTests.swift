import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// Core Data reads a mapping model of a file alone; a document of Xcode's is read with its models.
@Suite struct MappingFileTests {
  private let temporary: TemporaryFolder
  private var folder: URL { URL(fileURLWithPath: temporary.path) }

  init() throws { temporary = try TemporaryFolder() }

  private func write(_ text: String, _ path: String) throws {
    let url = folder.appendingPathComponent(path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: true, encoding: .utf8)
  }

  private func writeModel(_ version: String, _ attributes: String...) throws {
    let attributes = attributes.map {
      "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
    }
    try write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Note">\(attributes.joined())</entity></model>
      """, "Notes.xcdatamodeld/\(version).xcdatamodel/contents")
  }

  private func writeMapping() throws {
    try write(
      """
      <?xml version="1.0" standalone="yes"?>
      <database>
      <object type="XDDEVENTITYMAPPING" id="z103">
      <attribute name="sourcename" type="string">Note</attribute>
      <attribute name="mappingtypename" type="string">Undefined</attribute>
      <attribute name="mappingnumber" type="int16">1</attribute>
      <attribute name="destinationname" type="string">Note</attribute>
      <attribute name="autogenerateexpression" type="bool">1</attribute>
      <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" \
      idrefs="z105"></relationship>
      <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING">\
      </relationship>
      <relationship name="relationshipmappings" type="0/0" \
      destination="XDDEVRELATIONSHIPMAPPING"></relationship></object>
      <object type="XDDEVMAPPINGMODEL" id="z105">
      <attribute name="sourcemodelpath" type="string">Notes.xcdatamodeld/B.xcdatamodel</attribute>
      <attribute name="destinationmodelpath" type="string">\
      Notes.xcdatamodeld/C.xcdatamodel</attribute>
      <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" \
      idrefs="z103"></relationship></object>
      </database>
      """, "BToC.xcmappingmodel/xcmapping.xml")
  }

  @Test func `a mapping model is read of a file, with the models beside it`() throws {
    let url = folder.appendingPathComponent("BToC.xcmappingmodel")
    #expect(NSMappingModel(contentsOf: url) == nil && NSMappingModel(contentsOf: nil) == nil)
    try writeMapping()
    #expect(NSMappingModel(contentsOf: url) == nil)
    try writeModel("A", "text")
    try writeModel("B", "text", "title")
    try writeModel("C", "text", "title", "author")
    let models = ["B", "C"].map { name in
      NSManagedObjectModel(
        contentsOf: folder.appendingPathComponent("Notes.xcdatamodeld/\(name).xcdatamodel"))
    }
    for url in [url, folder.appendingPathComponent("BToC.cdm")] {
      let mapping = try #require(NSMappingModel(contentsOf: url))
      let note = try #require(mapping.entityMappings.first)
      #expect(note.sourceEntityName == "Note" && note.mappingType == .transformEntityMappingType)
      // Those of B and C, whose names the document has.
      #expect(note.sourceEntityVersionHash == models[0]?.entitiesByName["Note"]?.versionHash)
      #expect(note.destinationEntityVersionHash == models[1]?.entitiesByName["Note"]?.versionHash)
    }
  }
}
