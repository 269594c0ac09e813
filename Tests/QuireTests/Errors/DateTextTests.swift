import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Dates that Foundation's description does not know: at what is not a number it ends the process,
/// so that an error or a printed object did.
@Suite struct `Dates in messages` {
  private final class Event: ManagedObject {
    @Managed(.unique) var at: Date = Date(timeIntervalSinceReferenceDate: 0)
    @Managed var number: Int = 0
  }

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return ""
    } catch {
      return "\(error)"
    }
  }

  // Only texts are expected of: a failure would print the date.
  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, 1e12, -1e12])
  func `a moment without words is told in seconds`(_ seconds: Double) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    let words = "\(seconds) s since 2001"
    let container = try PersistentContainer(name: "Events", for: Event.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let event = Event(context: context)
    event.at = date
    let description = event.fullDescription
    #expect(description.contains(words))
    // By key to another type.
    let refusal = message { try event.setValue(date, forKey: "number") }
    #expect(refusal.contains(words))
    Event(context: context).at = date
    let duplicate = message { try context.save() }
    #expect(!duplicate.isEmpty)
    let predicate = "\(Key("at") == date)"
    #expect(!predicate.isEmpty)
  }

  @Test(arguments: [Date(timeIntervalSinceReferenceDate: 0), .distantPast, .distantFuture])
  func `other moments are told as they were`(_ date: Date) {
    #expect(AttributeValue.date(date).description == "\(date)")
  }
}
