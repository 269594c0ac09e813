/// How much a test does of what it could do.
///
/// Optimised code does in a second what a debug build does in ten, so tests that draw their cases
/// take fewer of them in debug. `QUIRE_EXHAUSTIVE=1` asks for all of it, and is meant for optimised
/// builds; `QUIRE_AMOUNT=release` asks a debug build for what optimised ones do.
package enum Amount {
  /// The amount for this build and what was asked for.
  package static func of<Value>(debug: Value, release: Value, exhaustive: Value) -> Value {
    isExhaustive ? exhaustive : isBrief ? debug : release
  }

  /// The amount of a test that is whole in optimised builds.
  package static func of<Value>(debug: Value, release: Value) -> Value {
    of(debug: debug, release: release, exhaustive: release)
  }

  /// The amount of a test that costs little in any build until all of it is asked for.
  package static func of<Value>(sampled: Value, exhaustive: Value) -> Value {
    of(debug: sampled, release: sampled, exhaustive: exhaustive)
  }

  /// All elements; in debug one in so many, and others for another place.
  ///
  /// For what a test goes through with each of its arguments, whose places are `place`: every
  /// element is met with some of them.
  package static func some<Element>(
    of elements: [Element], oneIn share: Int, at place: Int
  ) -> [Element] {
    let share = of(debug: share, release: 1)
    return elements.enumerated().filter { ($0.offset + place) % share == 0 }.map(\.element)
  }

  private static let isBrief: Bool = {
    #if DEBUG
      environmentValue("QUIRE_AMOUNT") != "release"
    #else
      false
    #endif
  }()
}

/// Whether the long versions of tests were asked for (`QUIRE_EXHAUSTIVE=1`).
package let isExhaustive = environmentValue("QUIRE_EXHAUSTIVE") == "1"
