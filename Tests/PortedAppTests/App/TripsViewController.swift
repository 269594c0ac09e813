import Foundation
import Quire

#if canImport(UIKit)
  import UIKit
#endif

class TripsViewController: UITableViewController {
  var stack = CoreDataStack.shared
  private var observer: ContextObservation?
  private(set) var saveCount = 0

  lazy var fetchedResultsController: FetchedResultsController<Trip> = {
    var request: FetchRequest<Trip> = Trip.fetchRequest()
    request.sortDescriptors = [
      FetchSortDescriptor(key: "year", ascending: false),
      FetchSortDescriptor(key: "name", ascending: true),
    ]
    request.fetchBatchSize = 20
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: stack.viewContext,
      sectionNameKeyPath: "year", cacheName: nil)
    controller.delegate = self
    return controller
  }()

  override func viewDidLoad() {
    super.viewDidLoad()
    observer = stack.viewContext.observe([.didSaveObjects]) { [weak self] _ in
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
      : try FetchPredicate(
        format: "%K CONTAINS[cd] %@ OR ANY tags.name BEGINSWITH[cd] %@", "name", text,
        text)
    try fetchedResultsController.performFetch()
    tableView.reloadData()
  }

  func averageRating() throws -> Double {
    try stack.viewContext.average(\Trip.rating) ?? 0
  }

  func toggleFavorite(at indexPath: IndexPath) {
    guard let trip = try? fetchedResultsController.object(at: indexPath) else { return }
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
    guard let trip = try? fetchedResultsController.object(at: indexPath) else { return cell }
    cell.textLabel?.text = trip.name
    cell.detailTextLabel?.text = "\(trip.places.count) places"
    return cell
  }

  override func tableView(
    _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
    forRowAt indexPath: IndexPath
  ) {
    guard editingStyle == .delete else { return }
    guard let trip = try? fetchedResultsController.object(at: indexPath) else { return }
    stack.viewContext.delete(trip)
    stack.saveContext()
  }
}

extension TripsViewController: FetchedResultsControllerDelegate {
  func controllerWillChangeContent(_ controller: FetchedResultsController<Trip>) {
    tableView.beginUpdates()
  }

  func controller(
    _ controller: FetchedResultsController<Trip>,
    didChange sectionInfo: FetchedResultsSectionInfo<Trip>, atSectionIndex sectionIndex: Int,
    for type: FetchedResultsChangeType
  ) {
    switch type {
    case .insert: tableView.insertSections(IndexSet(integer: sectionIndex), with: .automatic)
    case .delete: tableView.deleteSections(IndexSet(integer: sectionIndex), with: .automatic)
    default: break
    }
  }

  func controller(
    _ controller: FetchedResultsController<Trip>, didChange anObject: Trip,
    at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    switch type {
    case .insert: tableView.insertRows(at: [newIndexPath!], with: .automatic)
    case .delete: tableView.deleteRows(at: [indexPath!], with: .automatic)
    case .update: tableView.reloadRows(at: [indexPath!], with: .automatic)
    case .move: tableView.moveRow(at: indexPath!, to: newIndexPath!)
    @unknown default: break
    }
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Trip>) {
    tableView.endUpdates()
  }
}
