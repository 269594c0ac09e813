import Foundation
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

@Suite struct XcodeModelTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `attributes are read with types, defaults, limits and flags`() throws {
    let model = try load(
      """
      <entity name="A" representedClassName=".A" syncable="YES" codeGenerationType="class" \
      versionHashModifier="7" elementID="Old" isAbstract="YES">
        <attribute name="i" attributeType="Integer 16" defaultValueString="3" minValueString="1"/>
        <attribute name="d" optional="YES" attributeType="Decimal" defaultValueString="0.10"/>
        <attribute name="b" attributeType="Boolean" defaultValueString="YES" transient="YES"/>
        <attribute name="t" attributeType="Date" defaultDateTimeInterval="-3600" \
      minDateTimeInterval="-7200"/>
        <attribute name="s" attributeType="String" defaultValueString="" \
      regularExpressionString="a+" maxValueString="9" preserveAfterDeletion="YES"/>
        <attribute name="u" attributeType="UUID" \
      defaultValueString="E621E1F8-C36C-495A-93FC-0C247A3E6E5F" usesScalarValueType="NO"/>
        <attribute name="x" attributeType="Transformable" valueTransformerName="T" \
      customClassName="NSArray" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="n" attributeType="Integer 32" derived="YES" derivationExpression="x.@count">
          <userInfo><entry key="k" value="v"/></userInfo>
        </attribute>
        <attribute name="nothing"/>
      </entity>
      """)
    #expect(model.notes.isEmpty)
    let entity = try #require(model.model.entity(named: "A"))
    #expect(entity.managedObjectClassName == ".A")
    #expect(entity.isAbstract && entity.renamingIdentifier == "Old")
    #expect(entity.declaration.versionHashModifier == "7")
    func attribute(_ name: String) throws -> AttributeDescription {
      try #require(entity.attribute(named: name))
    }
    #expect(try attribute("i").defaultValue == .integer(3))
    #expect(try attribute("i").validation.minimum == "1")
    #expect(try !attribute("i").isOptional && attribute("d").isOptional)
    #expect(try attribute("d").defaultValue == .decimal(Decimal(string: "0.1")!))
    #expect(try attribute("b").defaultValue == .boolean(true) && attribute("b").isTransient)
    #expect(
      try attribute("t").defaultValue == .date(Date(timeIntervalSinceReferenceDate: -3600)))
    #expect(
      try attribute("t").validation.earliestDate == Date(timeIntervalSinceReferenceDate: -7200))
    #expect(try attribute("s").defaultValue == .string(""))
    #expect(try attribute("s").validation.regularExpression == "a+")
    #expect(try attribute("s").validation.maximum == "9")
    #expect(try attribute("s").preservesValueInHistoryOnDeletion)
    #expect(
      try attribute("u").defaultValue
        == .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!))
    #expect(try attribute("x").valueTransformerName == "T")
    #expect(try attribute("x").valueClassName == "NSArray")
    #expect(try attribute("x").allowsExternalBinaryDataStorage)
    #expect(try attribute("n").derivationExpression == "x.@count")
    #expect(try attribute("n").userInfo == ["k": "v"])
    #expect(try attribute("nothing").type == .undefined)
  }

  /// An application's 36 stores were refused for want of a default that stood in its model: “NO”,
  /// on an attribute that had been a Boolean.
  @Test func `the default of a former type is the number that it means`() throws {
    let types = ["Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float", "Boolean"]
    let texts: [(String, Int)] = [
      ("NO", 0), ("YES", 1), ("false", 0), ("True", 1), ("0", 0), ("1", 1), ("0.0", 0),
      ("1.0", 1), ("-0.0", 0), ("1e0", 1), ("no", 0),
    ]
    for type in types {
      for (text, number) in texts {
        let model = try load(
          """
          <entity name="A">
            <attribute name="x" attributeType="\(type)" defaultValueString="\(text)"/>
          </entity>
          """)
        #expect(model.notes.isEmpty, "\(type) \(text)")
        let value = model.model.entity(named: "A")?.attribute(named: "x")?.defaultValue
        let expected: AttributeValue =
          switch type {
          case "Decimal": .decimal(Decimal(number))
          case "Double": .double(Double(number))
          case "Float": .float(Float(number))
          case "Boolean": .boolean(number == 1)
          default: .integer(Int64(number))
          }
        #expect(value == expected, "\(type) \(text)")
      }
    }
  }

  @Test func `a default that means no number of its type is noted and left out`() throws {
    let cases: [(type: String, text: String, AttributeValue?, isNoted: Bool)] = [
      ("Boolean", "2", .boolean(true), false), ("Boolean", "-0.5", .boolean(true), false),
      ("Boolean", "nan", nil, true), ("Boolean", "maybe", nil, true), ("Boolean", "", nil, false),
      ("Integer 16", "0.5", nil, true), ("Integer 16", "70000", nil, true),
      ("Integer 32", "maybe", nil, true), ("Integer 64", "", nil, false),
      ("Decimal", "1,5", nil, true), ("Double", "YESNO", nil, true), ("Float", "", nil, false),
      ("Date", "NO", nil, true), ("UUID", "0", nil, true), ("String", "NO", .string("NO"), false),
      ("String", "0.0", .string("0.0"), false), ("Binary", "NO", nil, true),
    ]
    for (type, text, expected, isNoted) in cases {
      let model = try load(
        """
        <entity name="A">
          <attribute name="x" attributeType="\(type)" defaultValueString="\(text)"/>
        </entity>
        """)
      let value = model.model.entity(named: "A")?.attribute(named: "x")?.defaultValue
      #expect(value == expected, "\(type) \(text)")
      #expect(model.notes.isEmpty != isNoted, "\(type) \(text)")
    }
  }

  @Test func `relationships are read with counts, order and delete rules`() throws {
    let model = try load(
      """
      <entity name="A">
        <relationship name="bs" toMany="YES" ordered="YES" minCount="1" maxCount="20" \
      deletionRule="Deny" destinationEntity="B" inverseName="a" inverseEntity="B" optional="YES"/>
      </entity>
      <entity name="B" parentEntity="C">
        <relationship name="a" maxCount="1" deletionRule="No Action" destinationEntity="A" \
      inverseName="bs" inverseEntity="A"/>
      </entity>
      <entity name="C"/>
      """
    ).model
    let many = try #require(model.entity(named: "A")?.relationship(named: "bs"))
    #expect(many.isToMany && many.isOrdered && many.isOptional)
    #expect(many.minCount == 1 && many.maxCount == 20 && many.deleteRule == .deny)
    let one = try #require(model.entity(named: "B")?.relationship(named: "a"))
    #expect(!one.isToMany && !one.isOptional && one.deleteRule == .noAction && one.inverse == "bs")
  }

  @Test func `fetch requests, properties, indexes, constraints and configurations are read`() throws
  {
    let model = try load(
      """
      <entity name="A">
        <attribute name="x" attributeType="String"/>
        <attribute name="y" attributeType="String"/>
        <fetchedProperty name="same" optional="YES">
          <fetchRequest name="f" entity="A" predicateString="x == $FETCH_SOURCE.x">
            <userInfo><entry key="q" value="r"/></userInfo>
          </fetchRequest>
        </fetchedProperty>
        <fetchIndex name="byX">
          <fetchIndexElement property="x" type="RTree" order="descending"/>
          <fetchIndexElement expression="length:(x)" expressionType="integer" type="Binary"/>
        </fetchIndex>
        <compoundIndexes><compoundIndex><index value="x"/><index value="y"/></compoundIndex>
        </compoundIndexes>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="x"/></uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo><entry key="k" value="v"/></userInfo>
      </entity>
      <fetchRequest name="all" entity="A" fetchLimit="5" resultType="2" includeSubentities="YES" \
      returnDistinctResults="YES"/>
      <configuration name="Cloud" usedWithCloudKit="true"><memberEntity name="A"/></configuration>
      <elements><element name="A" positionX="0"/></elements>
      """)
    #expect(model.notes.isEmpty)
    let entity = try #require(model.model.entity(named: "A"))
    let property = try #require(entity.declaration.fetchedProperties.first)
    #expect(property.name == "same" && property.isOptional)
    #expect(property.request.predicateFormat == "x == $FETCH_SOURCE.x")
    #expect(property.request.userInfo == ["q": "r"])
    let index = try #require(entity.declaration.indexes.first)
    #expect(index.elements.map(\.kind) == [.rTree, .binary])
    #expect(index.elements.map(\.isAscending) == [false, true])
    #expect(index.elements[1].expression == "length:(x)")
    #expect(entity.declaration.indexes[1].elements.map(\.property) == ["x", "y"])
    #expect(entity.uniquenessConstraints == [["x"]])
    #expect(entity.userInfo == ["k": "v"])
    #expect(model.model.configurations == ["Cloud": ["A"]])
    let request = try #require(model.model.fetchRequestTemplates.first)
    #expect(request.name == "all" && request.fetchLimit == 5 && request.resultType == 2)
    #expect(request.includesSubentities && request.returnsDistinctResults)
    #expect(!request.includesPendingChanges)
  }

  @Test func `unusable validation rules, indexes and requests are left out and noted`() throws {
    let model = try load(
      """
      <entity name="A">
        <attribute name="x" attributeType="String" regularExpressionString="(" minValueString="2" \
      maxValueString="many"/>
        <fetchIndex name="byZ"><fetchIndexElement property="z" type="Binary"/></fetchIndex>
        <fetchIndex name="byX"><fetchIndexElement property="x" type="Binary"/></fetchIndex>
        <fetchedProperty name="odd">
          <fetchRequest name="f" entity="A" predicateString="z == 1"/>
        </fetchedProperty>
      </entity>
      <fetchRequest name="gone" entity="B"/>
      <fetchRequest name="unreadable" entity="A" predicateString="x =="/>
      <configuration name="Cloud"><memberEntity name="B"/><memberEntity name="A"/></configuration>
      """)
    #expect(model.notes.count == 7)
    #expect(model.notes.allSatisfy { $0.text.hasSuffix(": left out") })
    #expect(
      model.notes.contains { $0.text.contains("names the property z in its index byZ") },
      "\(model.notes)")
    let entity = try #require(model.model.entity(named: "A"))
    #expect(entity.attribute(named: "x")?.validation == AttributeValidation())
    #expect(entity.indexes.map(\.name) == ["byX"])
    #expect(entity.fetchedProperties.isEmpty)
    #expect(model.model.fetchRequestTemplates.isEmpty)
    #expect(model.model.configurations == ["Cloud": ["A"]])
  }

  @Test func `a derivation or a constraint that leads nowhere is an error`() throws {
    for element in [
      """
      <attribute name="x" attributeType="String" derived="YES" derivationExpression="z.@count"/>
      """,
      """
      <uniquenessConstraints><uniquenessConstraint><constraint value="z"/></uniquenessConstraint>
      </uniquenessConstraints>
      """,
    ] {
      #expect(throws: XcodeModelError.self) {
        try load("<entity name=\"A\">\(element)</entity>")
      }
    }
  }

  @Test func `a composite attribute has the elements of the definition it names`() throws {
    let model = try load(
      """
      <entity name="A">
        <attribute name="home" attributeType="Composite" compositeName="Address"/>
      </entity>
      <compositeAttribute name="Address">
        <attribute name="city" attributeType="String"/>
        <attribute name="point" attributeType="Composite" compositeName="Point"/>
      </compositeAttribute>
      <compositeAttribute name="Point"><attribute name="x" attributeType="Double"/>
      </compositeAttribute>
      """)
    #expect(model.notes.isEmpty)
    let home = try #require(model.model.entity(named: "A")?.attribute(named: "home"))
    #expect(home.elements.map(\.name) == ["city", "point"])
    #expect(home.elements[1].elements.map(\.name) == ["x"])
  }

  @Test func `unknown elements and attributes are noted with their line, and never fatal`() throws {
    let model = try load(
      """
      <entity name="A" mood="blue">
        <attribute name="x" attributeType="integer16" renamingIdentifier="w"/>
        <relationship name="r" maxCount="1" destinationEntity="A" deletionRule="cascade"/>
        <attribute name="y" attributeType="Integer 16" defaultValueString="70000"/>
        <hologram/>
      </entity>
      <galaxy name="far"/>
      """)
    #expect(
      model.notes.map(\.description) == [
        "line 2: entity A: the attribute mood=“blue” is unknown and ignored",
        "line 3: attribute x: the type “integer16” is taken as Integer16",
        "line 3: attribute x: the attribute renamingIdentifier=“w” is unknown and ignored",
        "line 4: relationship r: the delete rule “cascade” is taken as Cascade",
        "line 5: attribute y: the default value “70000” is no integer16; ignored",
        "line 6: the element <hologram> is unknown here and ignored",
        "line 8: the element <galaxy> is unknown here and ignored",
      ])
    let entity = try #require(model.model.entity(named: "A"))
    #expect(entity.attribute(named: "x")?.type == .integer16)
    #expect(entity.relationship(named: "r")?.deleteRule == .cascade)
  }

  // A type of another spelling became undefined, and a cascade Nullify, in silence.
  @Test func `unknown types, delete rules and malformed values are errors with the line`() throws {
    for (element, words) in [
      (#"<attribute name="x" attributeType="Quaternion"/>"#, "the type “Quaternion” is unknown"),
      (#"<attribute name="x" attributeType="String" optional="maybe"/>"#, "neither YES nor NO"),
      (
        #"<relationship name="x" destinationEntity="A" deletionRule="Drop"/>"#,
        "the delete rule “Drop” is unknown; there are Cascade, Deny, No Action, Nullify"
      ),
      (
        #"<relationship name="x" toMany="YES" maxCount="many" destinationEntity="A"/>"#,
        "maxCount is “many”, which is not a whole number"
      ),
      (
        #"<attribute name="x" attributeType="Date" defaultDateTimeInterval="soon"/>"#,
        "defaultDateTimeInterval is “soon”, which is not a number"
      ),
    ] {
      do {
        _ = try load("<entity name=\"A\">\(element)</entity>")
        Issue.record("\(element) was taken")
      } catch let error as XcodeModelError {
        guard case .incomplete(2, let text) = error.reason else {
          Issue.record("\(error)")
          continue
        }
        #expect(text.contains(words) && text.contains(" x: "), "\(text)")
      }
    }
  }

  @Test func `programs get the notes of what they load`() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "contents")
    try Data(
      #"<model><entity name="A" mood="blue"><attribute name="x" attributeType="string"/></entity></model>"#
        .utf8
    ).write(to: file)
    var notes: [String] = []
    _ = try ManagedObjectModel(contentsOf: file) { notes.append($0.description) }
    #expect(notes.count == 2 && notes[1].contains("the type “string” is taken as String"))
    _ = try VersionedModel(contentsOf: file) { notes.append($0.description) }
    #expect(notes.count == 4)
    withExtendedLifetime(folder) {}
  }

  @Test func `an inverse that is missing or leads elsewhere is dropped, half of one completed`()
    throws
  {
    let model = try load(
      """
      <entity name="A">
        <relationship name="b" maxCount="1" destinationEntity="B" inverseName="gone"/>
        <relationship name="c" maxCount="1" destinationEntity="B" inverseName="a"/>
        <relationship name="d" toMany="YES" destinationEntity="B" inverseName="a"/>
        <relationship name="e" toMany="YES" destinationEntity="B" inverseName="half"/>
        <relationship name="f" maxCount="1" destinationEntity="C" inverseName="x"/>
      </entity>
      <entity name="C">
        <relationship name="x" maxCount="1" destinationEntity="B" inverseName="f"/>
      </entity>
      <entity name="B">
        <relationship name="a" maxCount="1" destinationEntity="A" inverseName="d"/>
        <relationship name="half" maxCount="1" destinationEntity="A"/>
      </entity>
      """)
    let (a, b) = (
      try #require(model.model.entity(named: "A")), try #require(model.model.entity(named: "B"))
    )
    #expect(a.relationships.map(\.inverse) == [nil, nil, "a", "half", nil])
    #expect(b.relationships.map(\.inverse) == ["d", "e"])
    #expect(model.notes.count == 5)
  }

  @Test(arguments: [
    ("<entity name=\"A\"><attribute/></entity>", "has no name"),
    ("<entity name=\"A\"><relationship name=\"r\"/></entity>", "has no destinationEntity"),
    ("<entity name=\"A\"", "well-formed"),
    ("<entity name=\"A\" parentEntity=\"B\"/>", "parent B"),
    (
      "<entity name=\"A\"><attribute name=\"c\" attributeType=\"Composite\" k=\"C\"/></entity>"
        + "<compositeAttribute name=\"C\">"
        + "<attribute name=\"c\" attributeType=\"Composite\" k=\"C\"/></compositeAttribute>",
      "contains itself"
    ),
    (String(repeating: "<x>", count: 1000), "nested more than 64 deep"),
  ])
  func `a model that cannot be one is refused with the reason`(
    content: String, reason: String
  ) throws {
    #expect { try load(content) } throws: {
      $0 is XcodeModelError && "\($0)".contains(reason)
    }
  }

  /// Definitions of which each has the next, and before the last stands an attribute.
  private func definitions(_ count: Int, uses: Int) -> String {
    let elements = { (level: Int) in
      (0..<uses).map { "<attribute name=\"e\($0)\" attributeType=\"Composite\" k=\"C\(level)\"/>" }
        .joined()
    }
    return "<entity name=\"A\">\(elements(0))</entity>"
      + (0..<count).map { level in
        "<compositeAttribute name=\"C\(level)\">"
          + (level < count - 1
            ? elements(level + 1) : "<attribute name=\"x\" attributeType=\"Date\"/>")
          + "</compositeAttribute>"
      }.joined()
  }

  @Test func `composites that stand for more than a model may have are refused at once`() throws {
    #expect(try load(definitions(30, uses: 1)).notes.isEmpty)
    #expect(try load(definitions(10, uses: 2)).model.entities.count == 1)
    let tooMany = "has more than 250000 attributes"
    let cases = [(64, 2, tooMany), (2_000, 1, "nested more than 64 deep"), (40, 2, tooMany)]
    // The last takes as long as the first, some seconds in debug.
    let time = processorTime {
      for (count, uses, words) in cases.prefix(Amount.of(debug: 2, release: 3)) {
        #expect { try load(definitions(count, uses: uses)) } throws: {
          $0 is XcodeModelError && "\($0)".contains(words)
        }
      }
    }
    #expect(time < .seconds(60))
  }

  @Test func `a document of very deep inheritance is refused at once`() {
    let entities = (0..<5_000).map { level in
      "<entity name=\"E\(level)\" \(level == 0 ? "" : "parentEntity=\"E\(level - 1)\"")>"
        + "<relationship name=\"r\(level)\" maxCount=\"1\" destinationEntity=\"E\(level)\" "
        + "inverseName=\"r0\"/></entity>"
    }
    let time = processorTime {
      #expect { try load(entities.joined()) } throws: {
        "\($0)".contains("more than 200 ancestors")
      }
    }
    #expect(time < .seconds(60))
  }

  @Test func `malformed XML is an error with line and column`() throws {
    let url = try folder.write("<model>\n  <entity name=\"A\">\n</model>", to: "contents")
    #expect { try ManagedObjectModel(contentsOf: url) } throws: {
      guard case .malformed(line: 3, let column, let words)? = ($0 as? XcodeModelError)?.reason
      else { return false }
      return column > 0 && words.contains("end tag")
    }
  }

  @Test func `an old, compiled, missing or empty model is refused with what it is`() throws {
    func expect(_ words: String, _ url: URL) {
      #expect { try ManagedObjectModel(contentsOf: url) } throws: {
        $0 is XcodeModelError && "\($0)".contains(words)
      }
    }
    try folder.write("x", to: "Old.xcdatamodel/elements")
    try folder.write("bplist00", to: "Bare.xcdatamodel/contents")
    try folder.write("x", to: "Empty.xcdatamodel/other")
    try folder.write("x", to: "Compiled.momd/Model.mom")
    expect("before version 4.3", folder.file("Old.xcdatamodel"))
    expect("before version 4.3", folder.file("Bare.xcdatamodel"))
    expect("no file called contents", folder.file("Empty.xcdatamodel"))
    expect("compiled model", folder.file("Compiled.momd"))
    expect("no such file", folder.file("None.xcdatamodel"))
    expect("<plist>", try folder.write("<plist/>", to: "contents"))
    expect("nothing", try folder.write("", to: "contents"))
  }

  private func load(_ content: String) throws -> XcodeModel {
    try XcodeModel(
      contentsOf: folder.write(
        "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">\n"
          + "\(content)\n</model>", to: "Test.xcdatamodel/contents"))
  }
}
