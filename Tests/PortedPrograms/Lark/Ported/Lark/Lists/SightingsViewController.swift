import Foundation
import QuireCoreData

#if canImport(UIKit)
  import UIKit
#endif

/// All sightings, by month.
class SightingsViewController: UITableViewController {
  var stack: CoreDataStack!
  private(set) var dataSource: FetchedResultsDataSource<SightingsViewController>!
  private var placeObserver: ManagedObjectObserver?
  private(set) var heading: String = "Sightings"

  var place: Place? {
    didSet { placeDidChange() }
  }

  override func viewDidLoad() {
    super.viewDidLoad()
    setupTableView()
  }

  private func setupTableView() {
    let request = Sighting.sortedFetchRequest
    request.fetchBatchSize = 20
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = ["species"]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: stack.mainContext,
      sectionNameKeyPath: "monthTitle", cacheName: "sightings")
    dataSource = FetchedResultsDataSource(
      tableView: tableView, cellIdentifier: "SightingCell", fetchedResultsController: controller,
      delegate: self)
  }

  private func placeDidChange() {
    guard let place = place else {
      placeObserver = nil
      heading = "Sightings"
      dataSource.reconfigureFetchRequest { $0.predicate = Sighting.defaultPredicate }
      return
    }
    heading = place.name ?? ""
    dataSource.reconfigureFetchRequest { request in
      request.predicate = Sighting.predicate(format: "%K == %@", "place", place)
    }
    placeObserver = ManagedObjectObserver(object: place) { [weak self] type in
      switch type {
      case .update: self?.heading = place.name ?? ""
      case .delete: self?.place = nil
      }
    }
  }

  func search(_ text: String) {
    dataSource.reconfigureFetchRequest { request in
      guard !text.isEmpty else {
        request.predicate = Sighting.defaultPredicate
        return
      }
      let searches = ["species.commonName", "species.scientificName", "notes"].map {
        NSPredicate(format: "%K CONTAINS[cd] %@", $0, text)
      }
      request.predicate = Sighting.predicate(
        NSCompoundPredicate(orPredicateWithSubpredicates: searches))
    }
  }

  // MARK: UITableViewDataSource

  override func numberOfSections(in tableView: UITableView) -> Int {
    return dataSource.numberOfSections()
  }

  override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
    return dataSource.numberOfRows(inSection: section)
  }

  override func tableView(
    _ tableView: UITableView, titleForHeaderInSection section: Int
  ) -> String? {
    return dataSource.title(ofSection: section)
  }

  override func tableView(
    _ tableView: UITableView, cellForRowAt indexPath: IndexPath
  ) -> UITableViewCell {
    return dataSource.cell(at: indexPath)
  }

  override func tableView(
    _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
    forRowAt indexPath: IndexPath
  ) {
    guard editingStyle == .delete else { return }
    let sighting = dataSource.object(at: indexPath)
    stack.mainContext.performChanges {
      sighting.markForLocalDeletion()
    }
  }

  func editor(at indexPath: IndexPath) -> SightingEditor {
    return SightingEditor(stack: stack, sighting: dataSource.object(at: indexPath))
  }
}

extension SightingsViewController: FetchedResultsDataSourceDelegate {
  func configure(_ cell: UITableViewCell, for object: Sighting) {
    cell.textLabel?.text = object.species.commonName
    let place = object.place?.name ?? "somewhere"
    cell.detailTextLabel?.text = "\(object.count) at \(place)" + (object.isRead ? "" : " •")
  }
}
