/// Finds an attribute of an entity that is derived from itself, over others or at once.
struct DerivationCircle {
  private let entity: EntityDescription

  init(_ entity: EntityDescription) { self.entity = entity }

  /// - Returns: the attribute, and those over which it is derived from itself; `nil` when there is
  ///   none.
  /// - Complexity: O(*n*) in the derived attributes, each of which is followed once.
  func find() -> (attribute: String, way: [String])? {
    /// An attribute on the way, and what of its sources is still to be followed.
    struct Step {
      let name: String
      var sources: ArraySlice<String>
    }
    // The positions on the way of those that are on it; `nil` as the value of those done with.
    var known: [String: Int?] = [:]
    var way: [Step] = []
    func enter(_ name: String) {
      known[name] = .some(way.count)
      way.append(Step(name: name, sources: sources(of: name)[...]))
    }
    for attribute in entity.declaration.attributes
    where attribute.derivationExpression != nil && known[attribute.name] == nil {
      enter(attribute.name)
      while let step = way.last {
        guard let next = step.sources.first else {
          known[step.name] = .some(nil)
          way.removeLast()
          continue
        }
        way[way.count - 1].sources.removeFirst()
        switch known[next] {
        case .some(.some(let start)): return (next, way[(start + 1)...].map(\.name))
        case .some(.none): break
        case .none: enter(next)
        }
      }
    }
    return nil
  }

  /// The names that the derivation of an attribute begins its paths with.
  private func sources(of name: String) -> [String] {
    let text = entity.attribute(named: name)?.derivationExpression
    return text.flatMap { try? FetchExpression(format: $0) }?.readPaths.compactMap(\.first) ?? []
  }
}
