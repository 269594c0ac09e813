import Foundation
import QuireCoreData

#if canImport(UIKit)
  import UIKit
#endif

protocol FetchedResultsDataSourceDelegate: AnyObject {
  associatedtype Object: NSFetchRequestResult
  func configure(_ cell: UITableViewCell, for object: Object)
}

/// The rows of a table, from a controller.
class FetchedResultsDataSource<Delegate: FetchedResultsDataSourceDelegate>: NSObject,
  NSFetchedResultsControllerDelegate
{
  typealias Object = Delegate.Object

  private weak var tableView: UITableView?
  let fetchedResultsController: NSFetchedResultsController<Object>
  private weak var delegate: Delegate?
  private let cellIdentifier: String

  required init(
    tableView: UITableView, cellIdentifier: String,
    fetchedResultsController: NSFetchedResultsController<Object>, delegate: Delegate
  ) {
    self.tableView = tableView
    self.cellIdentifier = cellIdentifier
    self.fetchedResultsController = fetchedResultsController
    self.delegate = delegate
    super.init()
    fetchedResultsController.delegate = self
    try! fetchedResultsController.performFetch()
    tableView.reloadData()
  }

  func object(at indexPath: IndexPath) -> Object {
    return fetchedResultsController.object(at: indexPath)
  }

  func reconfigureFetchRequest(_ configure: (NSFetchRequest<Object>) -> Void) {
    NSFetchedResultsController<NSFetchRequestResult>.deleteCache(
      withName: fetchedResultsController.cacheName)
    configure(fetchedResultsController.fetchRequest)
    do { try fetchedResultsController.performFetch() } catch {
      fatalError("fetch request failed: \(error)")
    }
    tableView?.reloadData()
  }

  func numberOfSections() -> Int {
    return fetchedResultsController.sections?.count ?? 0
  }

  func numberOfRows(inSection section: Int) -> Int {
    guard let section = fetchedResultsController.sections?[section] else { return 0 }
    return section.numberOfObjects
  }

  func title(ofSection section: Int) -> String? {
    return fetchedResultsController.sections?[section].name
  }

  func cell(at indexPath: IndexPath) -> UITableViewCell {
    let cell = tableView!.dequeueReusableCell(withIdentifier: cellIdentifier, for: indexPath)
    delegate?.configure(cell, for: object(at: indexPath))
    return cell
  }

  // MARK: NSFetchedResultsControllerDelegate

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    tableView?.beginUpdates()
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    switch type {
    case .insert: tableView?.insertSections(IndexSet(integer: sectionIndex), with: .automatic)
    case .delete: tableView?.deleteSections(IndexSet(integer: sectionIndex), with: .automatic)
    default: break
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    switch type {
    case .insert:
      guard let indexPath = newIndexPath else { fatalError("Index path should be not nil") }
      tableView?.insertRows(at: [indexPath], with: .automatic)
    case .update:
      guard let indexPath = indexPath else { fatalError("Index path should be not nil") }
      tableView?.reloadRows(at: [indexPath], with: .automatic)
    case .move:
      guard let indexPath = indexPath, let newIndexPath = newIndexPath else {
        fatalError("Index paths should be not nil")
      }
      tableView?.deleteRows(at: [indexPath], with: .automatic)
      tableView?.insertRows(at: [newIndexPath], with: .automatic)
    case .delete:
      guard let indexPath = indexPath else { fatalError("Index path should be not nil") }
      tableView?.deleteRows(at: [indexPath], with: .automatic)
    @unknown default:
      break
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    tableView?.endUpdates()
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    return String(sectionName.prefix(3))
  }
}
