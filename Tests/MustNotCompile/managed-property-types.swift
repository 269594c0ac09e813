// What no property of the model can be is refused where it is declared, with what to write.
import Foundation
import Quire

struct Palette: TransformableValue {}
struct Plain {}
enum Style: String { case woodcut }

final class Artist: ManagedObject {
  @Managed var works: Set<Artist>?  // error: without a question mark
  @Managed var list: [Artist]?  // error: without a question mark
  @Managed var tags: [String]  // error: may have no value: make the property optional
  @Managed var marks: Set<Int>  // error: may have no value: make the property optional
  @Managed var labels: [String] = []  // error: arrays and sets without question mark
  @Managed var numbers: Set<Int> = []  // error: arrays and sets without question mark
  @Managed(.external) var codes: [String] = []  // error: arrays and sets without question mark
  @Managed(renamedFrom: "ids") var keys: [Int]  // error: arrays and sets without question mark
  @Managed var palette: Palette  // error: may have no value: make the property optional
  @Managed var colors: Palette = Palette()  // error: a type of your own to ManagedValue
  @Managed var shows: NSSet?  // error: write these for NSSet and NSOrderedSet
  @Managed var order: NSOrderedSet  // error: write these for NSSet and NSOrderedSet
  @Managed var plain: Plain  // error: an optional TransformableValue
  @Managed var style: Style  // error: conforms to ManagedAttribute
  @Managed var second: Style = .woodcut  // error: conforms to ManagedAttribute
  @Managed var third: Style? = .woodcut  // error: conforms to ManagedAttribute
  @Managed(.indexed) var fourth: Style  // error: conforms to ManagedAttribute
  @Managed(.indexed) var fifth: Style = .woodcut  // error: conforms to ManagedAttribute
  @Managed var master: Artist
  @Managed var name: String
}
