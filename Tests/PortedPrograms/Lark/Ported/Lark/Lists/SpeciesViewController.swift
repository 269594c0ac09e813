import Foundation
import QuireCoreData

#if canImport(UIKit)
  import UIKit
#endif

/// The taxonomy by initials, and those that are favorites.
class SpeciesViewController: UITableViewController, NSFetchedResultsControllerDelegate {
  var stack: CoreDataStack!
  private lazy var fetchedResultsController: NSFetchedResultsController<Species> = makeController()
  private(set) var changes: [String] = []

  var onlyFavorites = false {
    didSet {
      fetchedResultsController = makeController()
      reload()
    }
  }

  private func makeController() -> NSFetchedResultsController<Species> {
    let controller = Species.fetchedResultsController(
      in: stack.mainContext, onlyFavorites: onlyFavorites)
    controller.delegate = self
    return controller
  }

  override func viewDidLoad() {
    super.viewDidLoad()
    reload()
  }

  private func reload() {
    do {
      try fetchedResultsController.performFetch()
    } catch let error as NSError {
      print("Fetch failed: \(error), \(error.userInfo)")
    }
    tableView.reloadData()
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
    return fetchedResultsController.sections?[section].indexTitle
  }

  func sectionIndexTitles() -> [String] {
    return fetchedResultsController.sectionIndexTitles
  }

  override func tableView(
    _ tableView: UITableView, cellForRowAt indexPath: IndexPath
  ) -> UITableViewCell {
    let cell = tableView.dequeueReusableCell(withIdentifier: "SpeciesCell", for: indexPath)
    let species = fetchedResultsController.object(at: indexPath)
    cell.textLabel?.text = species.commonName
    cell.detailTextLabel?.text = species.scientificName
    return cell
  }

  func toggleFavorite(at indexPath: IndexPath) {
    let species = fetchedResultsController.object(at: indexPath)
    species.isFavorite.toggle()
    stack.save()
  }

  func indexPath(of species: Species) -> IndexPath? {
    return fetchedResultsController.indexPath(forObject: species)
  }

  // MARK: NSFetchedResultsControllerDelegate

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    tableView.beginUpdates()
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let species = anObject as! Species
    switch type {
    case .insert:
      changes.append("+ \(species.commonName)")
      tableView.insertRows(at: [newIndexPath!], with: .automatic)
    case .delete:
      changes.append("- \(species.commonName)")
      tableView.deleteRows(at: [indexPath!], with: .automatic)
    case .update:
      changes.append("~ \(species.commonName)")
      tableView.reloadRows(at: [indexPath!], with: .automatic)
    case .move:
      changes.append("> \(species.commonName)")
      tableView.moveRow(at: indexPath!, to: newIndexPath!)
    @unknown default: break
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    let indexSet = IndexSet(integer: sectionIndex)
    if type == .insert { tableView.insertSections(indexSet, with: .automatic) }
    if type == .delete { tableView.deleteSections(indexSet, with: .automatic) }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    tableView.endUpdates()
  }
}
