// A hook is overridden in the body of the class: of an extension Swift asks for what only the
// Objective-C runtime has.
import Quire

final class Artist: ManagedObject {
  @Managed var name: String?
  override func awakeFromInsert() { name = "new" }
}

extension Artist {
  override func willSave() {}  // error: cannot be overridden from extension
}
