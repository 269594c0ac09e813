import Foundation
import QuireModel

/// Writes keyed archives of mapping models, as `NSKeyedArchiver` writes them.
///
/// There is no Core Data here to write any. Classes, keys and numbers are from the archives inside
/// real `xcmapping.xml` files (functions, variables, paths), from published readers of archives
/// (Apportable's Foundation and Cappuccino: the other expressions and predicates), and from public
/// tools that take compiled mapping models apart (`NSMappingModel` and what is in it).
final class KeyedArchiveWriter {
  indirect enum Value {
    case text(String)
    case integer(Int)
    case real(Double)
    case flag(Bool)
    case data([UInt8])
    case list([Value])
    case entries([(String, Value)])
    case uid(Int)
  }

  private(set) var objects: [Value] = [.text("$null")]
  private var classes: [String: Value] = [:]

  func add(_ value: Value) -> Value {
    objects.append(value)
    return .uid(objects.count - 1)
  }

  func text(_ text: String?) -> Value { text.map { add(.text($0)) } ?? .uid(0) }

  func object(_ name: String, _ fields: [(String, Value)]) -> Value {
    let description =
      classes[name]
      ?? add(
        .entries([
          ("$classname", .text(name)), ("$classes", .list([.text(name), .text("NSObject")])),
        ]))
    classes[name] = description
    return add(.entries(fields + [("$class", description)]))
  }

  func array(_ members: [Value]) -> Value { object("NSArray", [("NS.objects", .list(members))]) }

  func dictionary(_ entries: [(String, Value)]) -> Value {
    object(
      "NSMutableDictionary",
      [("NS.keys", .list(entries.map { text($0.0) })), ("NS.objects", .list(entries.map(\.1)))])
  }

  func list(root: Value) -> Value {
    .entries([
      ("$version", .integer(100_000)), ("$objects", .list(objects)),
      ("$archiver", .text("NSKeyedArchiver")), ("$top", .entries([("root", root)])),
    ])
  }

  // MARK: Expressions

  func expression(_ expression: FetchExpression) throws -> Value {
    func write(_ name: String, _ type: Int, _ fields: [(String, Value)]) -> Value {
      object("NS\(name)Expression", fields + [("NSExpressionType", .integer(type))])
    }
    switch expression {
    case .constant(let value):
      return write("ConstantValue", 0, [("NSConstantValue", try constant(value))])
    case .evaluatedObject: return write("Self", 1, [])
    case .variable(let name): return write("Variable", 2, [("NSVariable", text(name))])
    case .keyPath(let names): return try path(names, of: .evaluatedObject)
    case .path(let operand, let names): return try path(names, of: operand)
    case .aggregate(let members):
      return write("Aggregate", 14, [("NSCollection", array(try members.map(self.expression)))])
    case .function(.union, let sides): return try sets(5, sides)
    case .function(.intersection, let sides): return try sets(6, sides)
    case .function(.difference, let sides): return try sets(7, sides)
    case .function(let function, let arguments):
      let utilities = write(
        "ConstantValue", 0, [("NSConstantValueClassName", text("_NSPredicateUtilities"))])
      return call(function.rawValue, utilities, try arguments.map(self.expression))
    case .call(let operand, let selector, let arguments):
      return call(selector, try self.expression(operand), try arguments.map(self.expression))
    case .conditional(let condition, let yes, let no):
      return write(
        "Ternary", 20,
        [
          ("NSPredicate", try predicate(condition)),
          ("NSTrueExpression", try self.expression(yes)),
          ("NSFalseExpression", try self.expression(no)),
        ])
    case .subquery(let collection, let variable, let condition):
      return write(
        "Subquery", 13,
        [
          ("NSExpression", try self.expression(collection)),
          ("NSVariable", try self.expression(.variable(variable))),
          ("NSSubpredicate", try predicate(condition)),
        ])
    case .fetch(let request, let context, let countOnly):
      return write(
        "FetchRequest", 50,
        [
          ("NSFRExpression", try self.expression(request)),
          ("NSMOCExpression", try self.expression(context)), ("NSCountOnlyFlag", .flag(countOnly)),
        ])
    }
  }

  private func sets(_ type: Int, _ sides: [FetchExpression]) throws -> Value {
    object(
      "NSSetExpression",
      [
        ("NSLeftExpression", try expression(sides[0])),
        ("NSRightExpression", try expression(sides[1])), ("NSExpressionType", .integer(type)),
      ])
  }

  private func path(_ names: [String], of operand: FetchExpression) throws -> Value {
    let specifier = object(
      "NSKeyPathSpecifierExpression",
      [("NSKeyPath", text(names.joined(separator: "."))), ("NSExpressionType", .integer(10))])
    return call(
      "valueForKeyPath:", try expression(operand), [specifier], "NSKeyPathExpression")
  }

  private func call(
    _ selector: String, _ operand: Value, _ arguments: [Value],
    _ name: String = "NSFunctionExpression"
  ) -> Value {
    object(
      name,
      [
        ("NSOperand", operand), ("NSSelectorName", text(selector)),
        ("NSExpressionType", .integer(4)), ("NSArguments", array(arguments)),
      ])
  }

  struct Unwritable: Error {}

  private func constant(_ value: PredicateValue?) throws -> Value {
    switch value {
    case nil: return .uid(0)
    case .value(.string(let text))?: return self.text(text)
    case .value(.integer(let number))?: return add(.integer(Int(number)))
    case .value(.double(let number))?: return add(.real(number))
    case .value(.boolean(let flag))?: return add(.flag(flag))
    case .value(.binary(let data))?: return add(.data(Array(data)))
    case .value(.date(let date))?:
      return object("NSDate", [("NS.time", .real(date.timeIntervalSinceReferenceDate))])
    case .value(.uuid(let uuid))?:
      return object(
        "NSUUID", [("NS.uuidbytes", .data(withUnsafeBytes(of: uuid.uuid) { Array($0) }))])
    case .value(.uri(let url))?:
      return object("NSURL", [("NS.base", .uid(0)), ("NS.relative", text(url.absoluteString))])
    default: throw Unwritable()
    }
  }

  // MARK: Predicates

  private func predicate(_ predicate: FetchPredicate) throws -> Value {
    func compound(_ type: Int, _ parts: [FetchPredicate]) throws -> Value {
      object(
        "NSCompoundPredicate",
        [
          ("NSCompoundPredicateType", .integer(type)),
          ("NSSubpredicates", array(try parts.map(self.predicate))),
        ])
    }
    switch predicate {
    case .constant(let flag): return object(flag ? "NSTruePredicate" : "NSFalsePredicate", [])
    case .not(let part): return try compound(0, [part])
    case .and(let parts): return try compound(1, parts)
    case .or(let parts): return try compound(2, parts)
    case .comparison(let comparison):
      let types: [FetchPredicate.Operator: Int] = [
        .lessThan: 0, .greaterThan: 2, .equal: 4, .notEqual: 5, .beginsWith: 8, .in: 10,
        .contains: 99,
      ]
      let modifiers: [FetchPredicate.Modifier: Int] = [.direct: 0, .all: 1, .any: 2]
      guard let type = types[comparison.operator], let modifier = modifiers[comparison.modifier]
      else { throw Unwritable() }
      let sign = object(
        type == 8 || type == 99 ? "NSSubstringPredicateOperator" : "NSEqualityPredicateOperator",
        [
          ("NSOperatorType", .integer(type)), ("NSModifier", .integer(modifier)),
          (
            type == 8 || type == 99 ? "NSFlags" : "NSOptions",
            .integer(Int(comparison.options.rawValue))
          ),
        ])
      return object(
        "NSComparisonPredicate",
        [
          ("NSPredicateOperator", sign), ("NSLeftExpression", try expression(comparison.left)),
          ("NSRightExpression", try expression(comparison.right)),
        ])
    }
  }
}
