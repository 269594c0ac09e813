import Foundation
import QuireCoreData

/// Tables that the store computes.
public struct Reports {
  private let context: NSManagedObjectContext

  public init(context: NSManagedObjectContext) {
    self.context = context
  }

  private func description(
    _ name: String, _ function: String, of keyPath: String, type: NSAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(
      forFunction: function, arguments: [NSExpression(forKeyPath: keyPath)])
    description.expressionResultType = type
    return description
  }

  /// Count, sum, average and extremes of weights, by customer.
  public func weightsByCustomer() throws -> [[String: Any]] {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: Parcel.entityName)
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: "customer != nil")
    request.propertiesToGroupBy = ["customer.name"]
    request.propertiesToFetch = [
      "customer.name",
      description("count", "count:", of: "code", type: .integer64AttributeType),
      description("sum", "sum:", of: "weightInGrams", type: .doubleAttributeType),
      description("average", "average:", of: "weightInGrams", type: .doubleAttributeType),
      description("heaviest", "max:", of: "weightInGrams", type: .doubleAttributeType),
      description("lightest", "min:", of: "weightInGrams", type: .doubleAttributeType),
    ]
    request.havingPredicate = NSPredicate(format: "%K > 0", "customer.name.length")
    request.havingPredicate = nil
    request.sortDescriptors = [NSSortDescriptor(key: "customer.name", ascending: true)]
    return try context.fetch(request) as! [[String: Any]]
  }

  public func turnover() throws -> Decimal {
    let request = NSFetchRequest<NSDictionary>(entityName: Parcel.entityName)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [
      description("turnover", "sum:", of: "price", type: .decimalAttributeType)
    ]
    let row = try context.fetch(request).first
    return (row?["turnover"] as? NSDecimalNumber)?.decimalValue ?? 0
  }

  public func states() throws -> [ParcelState: Int] {
    let request = NSFetchRequest<NSDictionary>(entityName: Parcel.entityName)
    request.resultType = .dictionaryResultType
    request.propertiesToGroupBy = [Parcel.entity().propertiesByName["state"]!]
    request.propertiesToFetch = [
      "state", description("count", "count:", of: "code", type: .integer32AttributeType),
    ]
    var states: [ParcelState: Int] = [:]
    for row in try context.fetch(request) {
      guard let number = row["state"] as? NSNumber,
        let state = ParcelState(rawValue: number.int16Value)
      else { continue }
      states[state] = row["count"] as? Int
    }
    return states
  }

  public func distinctAddresses() throws -> [String] {
    let request = NSFetchRequest<NSDictionary>(entityName: Stop.entityName)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["address"]
    request.returnsDistinctResults = true
    request.sortDescriptors = [
      NSSortDescriptor(
        key: "address", ascending: true,
        selector: .localizedStandardCompare)
    ]
    return try context.fetch(request).compactMap { $0["address"] as? String }
  }

  /// Parcels that wait at a depot, found by a subquery.
  public func waiting(at depot: String) throws -> [Parcel] {
    let request: NSFetchRequest<Parcel> = Parcel.fetchRequest()
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: "state"),
        rightExpression: NSExpression(forConstantValue: ParcelState.delivered.rawValue),
        modifier: .direct, type: .notEqualTo, options: []),
      NSPredicate(format: "SUBQUERY(stops, $s, $s.depot.name == %@).@count > 0", depot),
    ])
    request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
    return try context.fetch(request)
  }

  public func lateStops(before date: Date) throws -> Int {
    let request = NSFetchRequest<Stop>(entityName: "Stop")
    request.predicate = NSPredicate(format: "arrivedAt == nil OR arrivedAt > %@", date)
    return try context.count(for: request)
  }

  /// What a parcel would cost, by an expression.
  public static func price(grams: Double, perKilogram: Double) -> Double? {
    let expression = NSExpression(format: "grams / 1000 * %@", NSNumber(value: perKilogram))
    return expression.expressionValue(with: ["grams": grams], context: nil) as? Double
  }
}
