import Foundation
import QuireCoreData

#if canImport(UIKit)
  import UIKit
#endif

class TripsViewController: UITableViewController {
  var stack = CoreDataStack.shared
  private var observer: NSObjectProtocol?
  private(set) var saveCount = 0

  lazy var fetchedResultsController: NSFetchedResultsController<Trip> = {
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.sortDescriptors = [
      NSSortDescriptor(key: "year", ascending: false),
      NSSortDescriptor(key: "name", ascending: true),
    ]
    request.fetchBatchSize = 20
    request.relationshipKeyPathsForPrefetching = ["tags"]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: stack.viewContext,
      sectionNameKeyPath: "year", cacheName: nil)
    controller.delegate = self
    return controller
  }()

  override func viewDidLoad() {
    super.viewDidLoad()
    observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: stack.viewContext, queue: nil
    ) { [weak self] _ in
      self?.saveCount += 1
    }
    do {
      try fetchedResultsController.performFetch()
    } catch {
      print("Could not fetch: \(error.localizedDescription)")
    }
  }

  func search(_ text: String) throws {
    fetchedResultsController.fetchRequest.predicate =
      text.isEmpty
      ? nil
      : NSPredicate(
        format: "%K CONTAINS[cd] %@ OR ANY tags.name BEGINSWITH[cd] %@", "name", text,
        text)
    try fetchedResultsController.performFetch()
    tableView.reloadData()
  }

  func averageRating() throws -> Double {
    let average = NSExpressionDescription()
    average.name = "average"
    average.expression = NSExpression(
      forFunction: "average:", arguments: [NSExpression(forKeyPath: "rating")])
    average.expressionResultType = .doubleAttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Trip")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [average]
    return try stack.viewContext.fetch(request).first?["average"] as? Double ?? 0
  }

  func toggleFavorite(at indexPath: IndexPath) {
    let trip = fetchedResultsController.object(at: indexPath)
    trip.isFavorite.toggle()
    stack.saveContext()
  }

  override func numberOfSections(in tableView: UITableView) -> Int {
    return fetchedResultsController.sections?.count ?? 0
  }

  override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
    return fetchedResultsController.sections?[section].numberOfObjects ?? 0
  }

  override func tableView(
    _ tableView: UITableView, titleForHeaderInSection section: Int
  ) -> String? {
    return fetchedResultsController.sections?[section].name
  }

  override func tableView(
    _ tableView: UITableView, cellForRowAt indexPath: IndexPath
  ) -> UITableViewCell {
    let cell = tableView.dequeueReusableCell(withIdentifier: "TripCell", for: indexPath)
    let trip = fetchedResultsController.object(at: indexPath)
    cell.textLabel?.text = trip.name
    cell.detailTextLabel?.text = "\(trip.places?.count ?? 0) places"
    return cell
  }

  override func tableView(
    _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
    forRowAt indexPath: IndexPath
  ) {
    guard editingStyle == .delete else { return }
    stack.viewContext.delete(fetchedResultsController.object(at: indexPath))
    stack.saveContext()
  }
}

extension TripsViewController: NSFetchedResultsControllerDelegate {
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    tableView.beginUpdates()
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    switch type {
    case .insert: tableView.insertSections(IndexSet(integer: sectionIndex), with: .automatic)
    case .delete: tableView.deleteSections(IndexSet(integer: sectionIndex), with: .automatic)
    default: break
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    switch type {
    case .insert: tableView.insertRows(at: [newIndexPath!], with: .automatic)
    case .delete: tableView.deleteRows(at: [indexPath!], with: .automatic)
    case .update: tableView.reloadRows(at: [indexPath!], with: .automatic)
    case .move: tableView.moveRow(at: indexPath!, to: newIndexPath!)
    @unknown default: break
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    tableView.endUpdates()
  }
}
