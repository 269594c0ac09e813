import Quire
import QuireModel
import QuireSimulation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What names stand for when an expression is evaluated.
struct PlainScope {
  let object: PlainObject
  var variables: [String: PlainObject] = [:]
}

/// An expression and what it means.
struct MadeExpression {
  let expression: FetchExpression
  let value: (PlainScope) -> Plain
}

/// A predicate, what it means, and the predicates that it is made of.
struct MadePredicate {
  let predicate: FetchPredicate
  var parts: [MadePredicate] = []
  let holds: (PlainScope) -> Bool
}

/// Makes predicates together with their meaning in plain Swift.
struct MeaningGenerator {
  var generator: SeededGenerator
  /// Constants of objects.
  let objects: [PlainObject]

  /// Where paths may begin: the object itself, or a variable.
  private struct Root {
    let variable: String?
    let entity: String
  }

  private var roots = [Root(variable: nil, entity: "Node")]

  init(seed: Int, _ objects: [PlainObject]) {
    generator = SeededGenerator(seed: UInt64(seed))
    self.objects = objects
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[generator.below(values.count)]
  }

  private mutating func isOnce(in count: Int) -> Bool { generator.below(count) == 0 }

  // MARK: Paths

  /// A way from a root over relationships.
  private struct Way {
    var names: [String] = []
    let root: Root
    var entity: String
    /// Whether it leads to many.
    var isMany = false

    var expression: FetchExpression {
      guard let variable = root.variable else {
        return names.isEmpty ? .evaluatedObject : .keyPath(names)
      }
      return names.isEmpty ? .variable(variable) : .path(.variable(variable), names)
    }

    func with(_ names: String...) -> FetchExpression {
      Way(names: self.names + names, root: root, entity: entity).expression
    }

    /// What is at the end: nothing, an object, or a list of what there is.
    func value(_ scope: PlainScope) -> Plain {
      let start = root.variable.map { scope.variables[$0]! } ?? scope.object
      return names.reduce(.object(start), MeaningGenerator.step)
    }
  }

  private static func step(_ value: Plain, _ name: String) -> Plain {
    switch value {
    case .object(let object): return object[name]
    case .list(let members):
      return .list(
        members.flatMap { member -> [Plain] in
          let value = step(member, name)
          if case .list(let values) = value { return values }
          return [value]
        })
    default: return .none
    }
  }

  private var shapes: [String: PlainWorld.Shape] { PlainWorld.shapes }

  /// - Parameter steps: how many relationships it may follow.
  private mutating func way(_ steps: Int, many: Bool = false) -> Way {
    let root = pick(roots)
    var way = Way(root: root, entity: root.entity)
    for _ in 0..<generator.below(steps + 1) {
      guard let one = shapes[way.entity]?.ones, !one.isEmpty else { break }
      let next = pick(one)
      way.names.append(next.name)
      way.entity = next.entity
    }
    if many { extend(&way) }
    return way
  }

  private mutating func extend(_ way: inout Way) {
    let next = pick(shapes[way.entity]!.manies)
    way.names.append(next.name)
    (way.entity, way.isMany) = (next.entity, true)
  }

  enum Kind: CaseIterable { case number, text, date }

  private func names(_ kind: Kind, of entity: String) -> [String] {
    let shape = shapes[entity]!
    return switch kind {
    case .number: shape.numbers
    case .text: shape.texts
    case .date: shape.dates
    }
  }

  /// A way to an entity that has such values.
  private mutating func way(to kind: Kind, many: Bool = false) -> (Way, String) {
    while true {
      var way = way(2, many: many)
      if many, isOnce(in: 4) { extend(&way) }
      let names = names(kind, of: way.entity)
      if !names.isEmpty { return (way, pick(names)) }
    }
  }

  // MARK: Values

  private static let words = ["", "a", "A", "b", "ab", "abc", "Bc", "c c", "xyz"]

  mutating func constant(_ kind: Kind) -> MadeExpression {
    if isOnce(in: 10) { return MadeExpression(expression: .constant(nil)) { _ in .none } }
    switch kind {
    case .number:
      let number = generator.below(9) - 2
      if isOnce(in: 2) {
        return MadeExpression(expression: FetchExpression(number)) { _ in .number(Double(number)) }
      }
      let half = Double(number) / 2
      return MadeExpression(expression: FetchExpression(half)) { _ in .number(half) }
    case .text:
      let word = pick(Self.words)
      return MadeExpression(expression: FetchExpression(word)) { _ in .text(word) }
    case .date:
      let seconds = Double(generator.below(5))
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      return MadeExpression(expression: FetchExpression(date)) { _ in .date(seconds) }
    }
  }

  mutating func value(_ kind: Kind, depth: Int) -> MadeExpression {
    if depth == 0 || isOnce(in: 2) {
      if isOnce(in: 3) { return constant(kind) }
      let (way, name) = way(to: kind)
      return MadeExpression(expression: way.with(name)) { Self.step(way.value($0), name) }
    }
    if isOnce(in: 5) { return conditional(kind, depth: depth - 1) }
    switch kind {
    case .number: return number(depth: depth - 1)
    case .text: return text(depth: depth - 1)
    case .date: return isOnce(in: 2) ? extreme(.date) : constant(.date)
    }
  }

  private mutating func conditional(_ kind: Kind, depth: Int) -> MadeExpression {
    let condition = predicate(depth: depth)
    let (yes, no) = (value(kind, depth: depth), value(kind, depth: depth))
    return MadeExpression(
      expression: .conditional(condition.predicate, yes.expression, no.expression)
    ) { condition.holds($0) ? yes.value($0) : no.value($0) }
  }

  private mutating func text(depth: Int) -> MadeExpression {
    let operand = value(.text, depth: depth)
    switch generator.below(4) {
    case 0:
      return MadeExpression(expression: .function(.uppercase, [operand.expression])) {
        operand.value($0).text.map { .text($0.uppercased()) } ?? .none
      }
    case 1:
      let (way, name) = way(to: .text)
      return MadeExpression(expression: way.with(name, "lowercaseString")) {
        Self.step(way.value($0), name).text.map { .text($0.lowercased()) } ?? .none
      }
    case 2:
      return MadeExpression(
        expression: .call(
          operand.expression, selector: "stringByAppendingString:", [FetchExpression("b")])
      ) { operand.value($0).text.map { .text($0 + "b") } ?? .none }
    default: return extreme(.text)
    }
  }

  /// `@min` or `@max`.
  private mutating func extreme(_ kind: Kind) -> MadeExpression {
    let (way, name) = way(to: kind, many: true)
    let isMinimum = isOnce(in: 2)
    let expression = operation(isMinimum ? "@min" : "@max", way, name)
    return MadeExpression(expression: expression) { scope in
      guard case .list(let values) = Self.step(way.value(scope), name) else { return .none }
      var best = Plain.none
      for value in values where !value.isNone {
        if best.isNone || value.order(best) == (isMinimum ? -1 : 1) { best = value }
      }
      return best
    }
  }

  /// `artworks.@sum.price`, or `artworks.price.@sum`.
  private mutating func operation(
    _ sign: String, _ way: Way, _ name: String
  ) -> FetchExpression {
    isOnce(in: 2) ? way.with(sign, name) : way.with(name, sign)
  }

  private mutating func number(depth: Int) -> MadeExpression {
    switch generator.below(9) {
    case 0: return count()
    case 1: return sum()
    case 2: return extreme(.number)
    case 3:
      let (way, name) = way(to: .text)
      return MadeExpression(expression: way.with(name, "length")) {
        Self.step(way.value($0), name).text.map { .number(Double($0.utf16.count)) } ?? .none
      }
    case 4:
      let operand = value(.text, depth: depth)
      return MadeExpression(expression: .function(.length, [operand.expression])) {
        operand.value($0).text.map { .number(Double($0.utf16.count)) } ?? .none
      }
    case 5: return found(depth: depth)
    case 6:
      let operand = value(.number, depth: depth)
      return MadeExpression(expression: .function(.absolute, [operand.expression])) {
        operand.value($0).number.map { .number(abs($0)) } ?? .none
      }
    case 7: return distinct()
    default:
      let (left, right) = (value(.number, depth: depth), value(.number, depth: depth))
      let isSum = isOnce(in: 2)
      return MadeExpression(
        expression: .function(isSum ? .add : .subtract, [left.expression, right.expression])
      ) { scope in
        guard let left = left.value(scope).number, let right = right.value(scope).number
        else { return .none }
        return .number(isSum ? left + right : left - right)
      }
    }
  }

  private mutating func count() -> MadeExpression {
    let way = way(2, many: true)
    return MadeExpression(expression: way.with("@count")) {
      if case .list(let members) = way.value($0) { .number(Double(members.count)) } else { .none }
    }
  }

  private mutating func sum() -> MadeExpression {
    let (way, name) = way(to: .number, many: true)
    // Averages of decimals are rounded to decimals.
    let isSum = name == "cost" || isOnce(in: 2)
    let expression = operation(isSum ? "@sum" : "@avg", way, name)
    return MadeExpression(expression: expression) { scope in
      guard case .list(let values) = Self.step(way.value(scope), name) else { return .none }
      let sum = values.reduce(0) { $0 + ($1.number ?? 0) }
      return .number(isSum || values.isEmpty ? sum : sum / Double(values.count))
    }
  }

  /// `count:(friends.@distinctUnionOfObjects.name)`.
  private mutating func distinct() -> MadeExpression {
    let (way, name) = way(to: .text, many: true)
    guard way.names.filter({ name in Self.manyNames.contains(name) }).count == 1 else {
      return count()
    }
    return MadeExpression(
      expression: .function(.count, [way.with("@distinctUnionOfObjects", name)])
    ) { scope in
      guard case .list(let values) = Self.step(way.value(scope), name) else { return .number(0) }
      return .number(Double(Set(values.compactMap(\.text)).count))
    }
  }

  private static let manyNames = Set(PlainWorld.shapes.values.flatMap { $0.manies.map(\.name) })

  /// Something of the members that a subquery finds.
  private mutating func found(depth: Int) -> MadeExpression {
    var way = way(1, many: true)
    if isOnce(in: 4) { extend(&way) }
    let variable = "x\(roots.count)"
    roots.append(Root(variable: variable, entity: way.entity))
    let condition = predicate(depth: min(1, depth))
    roots.removeLast()
    let source = FetchExpression.subquery(
      way.expression, variable: variable, condition.predicate)
    let members = { [way] (scope: PlainScope) -> [PlainObject] in
      guard case .list(let members) = way.value(scope) else { return [] }
      return members.compactMap(\.object).filter { member in
        var inner = scope
        inner.variables[variable] = member
        return condition.holds(inner)
      }
    }
    let numbers = names(.number, of: way.entity)
    if isOnce(in: 3) {
      let name = pick(numbers)
      return MadeExpression(expression: .path(source, ["@sum", name])) { scope in
        .number(members(scope).reduce(0) { $0 + ($1[name].number ?? 0) })
      }
    }
    return MadeExpression(expression: .path(source, ["@count"])) {
      .number(Double(members($0).count))
    }
  }

  /// A member of an ordered relationship by its place.
  private mutating func member() -> MadePredicate {
    var way = way(2)
    while way.entity != "Node" { way = self.way(2) }
    let steps = way.with("steps")
    let place = generator.below(4)
    let source: FetchExpression =
      switch place {
      case 0: .function(.first, [steps])
      case 1: .function(.last, [steps])
      default: .function(.element, [steps, FetchExpression(place - 1)])
      }
    let word = pick(Self.words)
    let (`operator`, test) = relation()
    return MadePredicate(
      predicate: .comparison(.path(source, ["word"]), `operator`, FetchExpression(word))
    ) { [way] scope in
      var value = Plain.none
      if case .list(let members) = Self.step(way.value(scope), "steps"), !members.isEmpty {
        let index = place == 0 ? 0 : place == 1 ? members.count - 1 : place - 1
        if index < members.count { value = Self.step(members[index], "word") }
      }
      return test(value, .text(word))
    }
  }

  // MARK: Predicates

  mutating func predicate(depth: Int) -> MadePredicate {
    if depth == 0 || isOnce(in: 3) { return comparison(depth: depth) }
    switch generator.below(5) {
    case 0:
      let part = predicate(depth: depth - 1)
      return MadePredicate(predicate: .not(part.predicate), parts: [part]) { !part.holds($0) }
    case 1, 2:
      let parts = (0..<generator.below(3) + 1).map { _ in predicate(depth: depth - 1) }
      return MadePredicate(predicate: .or(parts.map(\.predicate)), parts: parts) { scope in
        parts.contains { $0.holds(scope) }
      }
    default:
      let parts = (0..<generator.below(3) + 1).map { _ in predicate(depth: depth - 1) }
      return MadePredicate(predicate: .and(parts.map(\.predicate)), parts: parts) { scope in
        parts.allSatisfy { $0.holds(scope) }
      }
    }
  }

  private mutating func comparison(depth: Int) -> MadePredicate {
    switch generator.below(7) {
    case 0: return objects(depth)
    case 1: return quantified()
    case 2: return list()
    case 3: return texts(depth)
    default:
      let kind = pick(Kind.allCases)
      let left = value(kind, depth: depth)
      let right = isOnce(in: 2) ? constant(kind) : value(kind, depth: depth)
      let (`operator`, test) = relation()
      return MadePredicate(
        predicate: .comparison(left.expression, `operator`, right.expression)
      ) { test(left.value($0), right.value($0)) }
    }
  }

  private typealias Test = (Plain, Plain) -> Bool

  private mutating func relation() -> (FetchPredicate.Operator, Test) {
    switch generator.below(8) {
    case 0, 1: (.equal, { $0.equals($1) })
    case 2: (.notEqual, { !$0.equals($1) })
    case 3: (.lessThan, { $0.order($1) == -1 })
    case 4: (.lessThanOrEqual, { left, right in left.order(right).map { $0 <= 0 } ?? false })
    case 5: (.greaterThan, { $0.order($1) == 1 })
    default: (.greaterThanOrEqual, { left, right in left.order(right).map { $0 >= 0 } ?? false })
    }
  }

  private mutating func texts(_ depth: Int) -> MadePredicate {
    let left = value(.text, depth: depth)
    let right = pick(Self.words)
    let ignoresCase = isOnce(in: 3)
    let fold = { (text: String) in ignoresCase ? text.lowercased() : text }
    let (`operator`, test): (FetchPredicate.Operator, (String, String) -> Bool) =
      switch generator.below(4) {
      case 0: (.beginsWith, { $0.hasPrefix($1) })
      case 1: (.endsWith, { $0.hasSuffix($1) })
      case 2: (.contains, { $1.isEmpty || $0.contains($1) })
      default: (.like, { $0 == $1 })
      }
    return MadePredicate(
      predicate: .comparison(
        left.expression, `operator`, FetchExpression(right),
        options: ignoresCase ? .caseInsensitive : [])
    ) { scope in left.value(scope).text.map { test(fold($0), fold(right)) } ?? false }
  }

  /// `ANY` and `ALL`.
  private mutating func quantified() -> MadePredicate {
    let kind = pick(Kind.allCases)
    let (way, name) = way(to: kind, many: true)
    let right = constant(kind)
    let (`operator`, test) = relation()
    let isAny = isOnce(in: 2)
    return MadePredicate(
      predicate: .comparison(
        way.with(name), `operator`, right.expression, modifier: isAny ? .any : .all)
    ) { scope in
      let right = right.value(scope)
      let values = Self.step(way.value(scope), name).members
      return isAny
        ? values.contains { test($0, right) } : values.allSatisfy { test($0, right) }
    }
  }

  private mutating func list() -> MadePredicate {
    let kind = pick(Kind.allCases)
    let left = value(kind, depth: 1)
    if isOnce(in: 3) {
      let (low, high) = (constant(kind), constant(kind))
      return MadePredicate(
        predicate: .comparison(
          left.expression, .between, .aggregate([low.expression, high.expression]))
      ) { scope in
        guard let below = low.value(scope).order(left.value(scope)),
          let above = left.value(scope).order(high.value(scope))
        else { return false }
        return below <= 0 && above <= 0
      }
    }
    let members = (0..<generator.below(4)).map { _ in constant(kind) }
    return MadePredicate(
      predicate: .comparison(left.expression, .in, .aggregate(members.map(\.expression)))
    ) { scope in members.contains { $0.value(scope).equals(left.value(scope)) } }
  }

  private mutating func objects(_ depth: Int) -> MadePredicate {
    let way = way(2)
    switch generator.below(7) {
    case 4:
      // Both are of the family of nodes, to whose entities a question may be about.
      let isStep = way.entity == "Step"
      let name = isStep ? "Step" : pick(["Node", "Leaf"])
      return MadePredicate(
        predicate: .comparison(
          .call(way.expression, selector: "isKindOfClass:", [FetchExpression(name)]), .equal,
          FetchExpression(true))
      ) { scope in
        guard let kind = way.value(scope).object?["entity"].text else { return false }
        return name == "Node" ? kind != "Step" : kind == name
      }
    case 5:
      let name = pick(["Node", "Leaf", "Step"])
      let (`operator`, test) = relation()
      return MadePredicate(
        predicate: .comparison(way.with("entity"), `operator`, FetchExpression(name))
      ) { test(Self.step(way.value($0), "entity"), .text(name)) }
    case 6: return member()
    case 0:
      let isNot = isOnce(in: 2)
      return MadePredicate(
        predicate: .comparison(way.expression, isNot ? .notEqual : .equal, nil)
      ) { way.value($0).isNone != isNot }
    case 1:
      let many = self.way(1, many: true)
      return MadePredicate(predicate: .comparison(way.expression, .in, many.expression)) { scope in
        guard case .list(let members) = many.value(scope) else { return false }
        return members.contains { $0.equals(way.value(scope)) }
      }
    case 2:
      let chosen = (0..<generator.below(4)).map { _ in pick(objects) }
      let expressions = chosen.map { object -> FetchExpression in
        .constant(.object(OpaqueIdentity(object.id)))
      }
      return MadePredicate(predicate: .comparison(way.expression, .in, .aggregate(expressions))) {
        scope in chosen.contains { Plain.object($0).equals(way.value(scope)) }
      }
    default:
      let other = self.way(2)
      return MadePredicate(predicate: .comparison(way.expression, .equal, other.expression)) {
        way.value($0).equals(other.value($0))
      }
    }
  }
}
