import QuireModel

// Fetched properties, templates and indexes in the words of models.

extension ModelCode {
  func statement(_ property: FetchedPropertyDescription) -> SwiftStatement {
    let request = property.request
    var arguments = Arguments([
      SwiftArgument(nil, .string(property.name)),
      SwiftArgument("of", .string(request.entityName)),
    ])
    add(request, to: &arguments)
    arguments.add("renamedFrom", property.renamingIdentifier)
    arguments.add("versionHashModifier", property.versionHashModifier)
    arguments.add(userInfo: property.userInfo)
    var statement = SwiftStatement(type("FetchedProperty"), arguments.list)
    if !property.isOptional { statement.changes.append(("isOptional", .text("false"))) }
    if request.name != property.name {
      statement.changes.append(("request.name", .string(request.name)))
    }
    if !request.includesSubentities {
      statement.changes.append(("request.includesSubentities", .text("false")))
    }
    if !request.userInfo.isEmpty {
      statement.changes.append(("request.userInfo", .texts(request.userInfo)))
    }
    statement.changes += changes(of: request).map { ("request.\($0)", $1) }
    return statement
  }

  func statement(_ template: FetchRequestTemplate) -> SwiftStatement {
    var arguments = Arguments([
      SwiftArgument(nil, .string(template.name)),
      SwiftArgument("of", .string(template.entityName)),
    ])
    add(template, to: &arguments)
    if !template.includesSubentities {
      arguments.add("includesSubentities", text: "false")
    }
    arguments.add(userInfo: template.userInfo)
    var statement = SwiftStatement(type("FetchRequestTemplate"), arguments.list)
    statement.changes = changes(of: template)
    return statement
  }

  private func add(_ request: FetchRequestTemplate, to arguments: inout Arguments) {
    arguments.add("where", request.predicateFormat)
    if !request.sortDescriptors.isEmpty {
      arguments.list.append(
        SwiftArgument("sortedBy", .array(request.sortDescriptors.map { code($0) })))
    }
    if request.fetchLimit != 0 {
      arguments.add("limit", text: "\(request.fetchLimit)")
    }
  }

  /// What no initialiser has an argument for.
  private func changes(of request: FetchRequestTemplate) -> [(String, SwiftExpression)] {
    let plain = FetchRequestTemplate(name: "", entityName: "")
    let numbers: [(String, KeyPath<FetchRequestTemplate, Int>)] = [
      ("fetchBatchSize", \.fetchBatchSize), ("resultType", \.resultType),
    ]
    let flags: [(String, KeyPath<FetchRequestTemplate, Bool>)] = [
      ("includesPropertyValues", \.includesPropertyValues),
      ("includesPendingChanges", \.includesPendingChanges),
      ("returnsObjectsAsFaults", \.returnsObjectsAsFaults),
      ("returnsDistinctResults", \.returnsDistinctResults),
    ]
    return numbers.filter { request[keyPath: $1] != plain[keyPath: $1] }
      .map { ($0, .text("\(request[keyPath: $1])")) }
      + flags.filter { request[keyPath: $1] != plain[keyPath: $1] }
      .map { ($0, .text("\(request[keyPath: $1])")) }
  }

  private func code(_ descriptor: FetchSortDescriptor) -> SwiftExpression {
    // A name with a dot in it is no path.
    let isKey =
      FetchSortDescriptor(key: descriptor.key).keyPath.elementsEqual(descriptor.keyPath)
    var arguments = Arguments([
      isKey
        ? SwiftArgument("key", SwiftExpression.string(descriptor.key))
        : SwiftArgument("keyPath", .strings(descriptor.keyPath))
    ])
    if !descriptor.ascending { arguments.add("ascending", text: "false") }
    if !descriptor.options.isEmpty {
      let names: [(FetchComparisonOptions, String)] = [
        (.caseInsensitive, ".caseInsensitive"), (.diacriticInsensitive, ".diacriticInsensitive"),
        (.normalized, ".normalized"), (.natural, ".natural"),
      ]
      let set = names.filter { descriptor.options.contains($0.0) }.map { $0.1 }
      arguments.list.append(
        SwiftArgument("options", set.count == 1 ? .text(set[0]) : .array(set.map { .text($0) })))
    }
    if descriptor.absentValues != .smallest {
      arguments.add("absentValues", text: ".\(descriptor.absentValues)")
    }
    return .call(type("FetchSortDescriptor"), arguments.list)
  }

  func statement(_ index: FetchIndexDescription) -> SwiftStatement {
    var arguments = Arguments([SwiftArgument(nil, .string(index.name))])
    for (position, element) in index.elements.enumerated() {
      arguments.list.append(SwiftArgument(position == 0 ? "on" : nil, code(element)))
    }
    if index.elements.isEmpty { arguments.list.append(SwiftArgument(nil, .array([]))) }
    arguments.add("where", index.partialIndexPredicate)
    arguments.add(userInfo: index.userInfo)
    var statement = SwiftStatement(type("FetchIndex"), arguments.list)
    for (position, element) in index.elements.enumerated() where element.kind == .rTree {
      let path = "elements[\(position)]"
      if !element.isAscending { statement.changes.append(("\(path).isAscending", .text("false"))) }
      if element.property == nil { statement.changes.append(("\(path).kind", .text(".rTree"))) }
    }
    return statement
  }

  private func code(_ element: FetchIndexDescription.Element) -> SwiftExpression {
    if let property = element.property {
      if element.kind == .rTree { return .call(".rTree", [SwiftArgument(nil, .string(property))]) }
      return element.isAscending
        ? SwiftExpression.string(property)
        : .call(".descending", [SwiftArgument(nil, .string(property))])
    }
    var arguments = Arguments([SwiftArgument(nil, .string(element.expression ?? ""))])
    arguments.add("type", element.expressionType)
    if element.kind == .binary, !element.isAscending {
      arguments.add("ascending", text: "false")
    }
    return .call(".expression", arguments.list)
  }
}
