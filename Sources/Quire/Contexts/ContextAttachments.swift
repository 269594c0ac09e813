/// What higher floors keep with a context: one object of each type.
struct ContextAttachments {
  private var objects: [ObjectIdentifier: AnyObject] = [:]

  subscript<Object: AnyObject>(_ type: Object.Type) -> Object? {
    get { objects[ObjectIdentifier(type)] as? Object }
    set { objects[ObjectIdentifier(type)] = newValue }
  }
}
