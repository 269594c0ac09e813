/// A mapping document as Xcode writes it, between the models of ``CompiledMapping``.
struct MappingDocument {
  /// Further lines of the objects: of the mapping of countries, of `State.title`, of `State.towns`.
  var state = #"<attribute name="autogenerateexpression" type="bool">1</attribute>"#
  var title = ""
  var towns = #"<attribute name="autogenerateexpression" type="bool">1</attribute>"#
  var destination = "State"
  /// Further lines of the object of the model, such as copies of the two models.
  var copies = ""

  var text: String {
    """
    <?xml version="1.0" standalone="yes"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database>
      <databaseInfo><version>134481920</version><nextObjectID>110</nextObjectID></databaseInfo>
      <object type="XDDEVMAPPINGMODEL" id="z1">
        <attribute name="sourcemodelpath" type="string">World/World.xcdatamodel</attribute>
        <attribute name="destinationmodelpath" type="string">World/World 2.xcdatamodel</attribute>
        \(copies)
        <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" \
    idrefs="z4 z2 z3"></relationship>
      </object>
      <object type="XDDEVENTITYMAPPING" id="z2">
        <attribute name="sourcename" type="string">Country</attribute>
        <attribute name="destinationname" type="string">\(destination)</attribute>
        <attribute name="mappingtypename" type="string">Undefined</attribute>
        <attribute name="mappingnumber" type="int16">2</attribute>
        \(state)
        <relationship name="attributemappings" idrefs="z5 z7 z8"></relationship>
        <relationship name="relationshipmappings" idrefs="z6"></relationship>
      </object>
      <object type="XDDEVENTITYMAPPING" id="z3">
        <attribute name="sourcename" type="string">City</attribute>
        <attribute name="destinationname" type="string">Town</attribute>
        <attribute name="mappingtypename" type="string">Undefined</attribute>
        <attribute name="mappingnumber" type="int16">10</attribute>
        <attribute name="autogenerateexpression" type="bool">1</attribute>
        <relationship name="attributemappings" idrefs="z9"></relationship>
      </object>
      <object type="XDDEVENTITYMAPPING" id="z4">
        <attribute name="sourcename" type="string">Sea</attribute>
        <attribute name="mappingnumber" type="int16">1</attribute>
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z5">
        <attribute name="name" type="string">title</attribute>
        \(title)
      </object>
      <object type="XDDEVRELATIONSHIPMAPPING" id="z6">
        <attribute name="name" type="string">towns</attribute>
        \(towns)
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z7">
        <attribute name="name" type="string">rank</attribute>
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z8">
        <attribute name="name" type="string">note</attribute>
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z9">
        <attribute name="name" type="string">name</attribute>
      </object>
    </database>
    """
  }
}
