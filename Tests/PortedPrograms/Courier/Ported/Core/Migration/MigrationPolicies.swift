import Foundation
import QuireCoreData

/// Makes a customer of a parcel's name, one for all parcels of that name.
final class ParcelToParcelPolicy: NSEntityMigrationPolicy {
  private static let customersKey = "customersByName"

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(mapping, with: manager)
    manager.userInfo = [ParcelToParcelPolicy.customersKey: NSMutableDictionary()]
  }

  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    guard
      let parcel = manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [source]
      ).first
    else { return }
    let fallback = mapping.userInfo?["defaultState"] as? String
    let state = source.value(forKey: "state") as? String ?? fallback
    parcel.setValue(ParcelState(legacyName: state).rawValue, forKey: "state")
    if let name = source.value(forKey: "customerName") as? String, !name.isEmpty {
      let customer = try self.customer(named: name, in: manager)
      if customer.value(forKey: "phone") == nil {
        customer.setValue(source.value(forKey: "customerPhone"), forKey: "phone")
      }
      parcel.setValue(customer, forKey: "customer")
    }
  }

  /// Remembered by its name; else found among the objects of the destination; else new.
  private func customer(named name: String, in manager: NSMigrationManager) throws
    -> NSManagedObject
  {
    let known = manager.userInfo?[ParcelToParcelPolicy.customersKey] as! NSMutableDictionary
    if let customer = known[name] as? NSManagedObject { return customer }
    let context = manager.destinationContext
    let predicate = NSPredicate(format: "name == %@", name)
    for object in context.registeredObjects
    where object.entity.name == "Customer" && !object.isFault {
      if predicate.evaluate(with: object) { return object }
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Customer")
    request.predicate = predicate
    if let customer = try context.fetch(request).first { return customer }
    let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
    customer.setValue(name, forKey: "name")
    known[name] = customer
    return customer
  }

  override func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.endInstanceCreation(forMapping: mapping, manager: manager)
    let known = manager.userInfo?[ParcelToParcelPolicy.customersKey] as? NSDictionary
    NotificationCenter.default.post(
      name: .courierDidCreateCustomers, object: nil, userInfo: ["count": known?.count ?? 0])
  }
}

extension Notification.Name {
  static let courierDidCreateCustomers = Notification.Name("CourierDidCreateCustomers")
}

/// Looks up the parcel of a stop by what the first policy has made.
final class StopPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination destination: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    let sources = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [destination])
    guard let source = sources.first,
      let parcel = source.value(forKey: "parcel") as? NSManagedObject
    else { return }
    let made = manager.destinationInstances(
      forEntityMappingName: "ParcelToParcel", sourceInstances: [parcel])
    destination.setValue(made.first, forKey: "parcel")
  }

  override func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Stop")
    request.predicate = NSPredicate(format: "address == ''")
    let count = try manager.destinationContext.count(for: request)
    if count > 0 {
      throw NSError(
        domain: "CourierMigration", code: count,
        userInfo: [NSLocalizedDescriptionKey: "\(count) stops without an address"])
    }
  }
}
