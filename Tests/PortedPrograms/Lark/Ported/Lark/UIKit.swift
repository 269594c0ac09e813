#if !canImport(UIKit)
  import Foundation

  // What the app uses of UIKit, where there is none: enough to see which rows a table shows.

  class UILabel {
    var text: String?
  }

  class UITableViewCell {
    enum EditingStyle { case none, delete, insert }
    let textLabel: UILabel? = UILabel()
    let detailTextLabel: UILabel? = UILabel()
  }

  /// A table that keeps the rows that it was told of, and compares them with its data source when
  /// an update ends, as UIKit does, which stops a program whose numbers do not agree.
  class UITableView {
    enum RowAnimation { case automatic }
    weak var dataSource: UITableViewController?
    private var rowCounts: [Int] = []
    private(set) var updateCount = 0
    private(set) var contradictions: [String] = []

    private var deletedRows: [IndexPath] = []
    private var insertedRows: [IndexPath] = []
    private var deletedSections = IndexSet()
    private var insertedSections = IndexSet()

    private var isStale = false
    /// The data source is asked when rows are shown or changed, and not at once.
    func reloadData() { isStale = true }
    func dequeueReusableCell(
      withIdentifier identifier: String, for indexPath: IndexPath
    ) -> UITableViewCell { UITableViewCell() }

    func beginUpdates() {
      if isStale { rowCounts = currentCounts() }
      isStale = false
      (deletedRows, insertedRows) = ([], [])
      (deletedSections, insertedSections) = (IndexSet(), IndexSet())
    }
    func insertSections(_ sections: IndexSet, with animation: RowAnimation) {
      insertedSections.formUnion(sections)
    }
    func deleteSections(_ sections: IndexSet, with animation: RowAnimation) {
      deletedSections.formUnion(sections)
    }
    func insertRows(at indexPaths: [IndexPath], with animation: RowAnimation) {
      insertedRows += indexPaths
    }
    func deleteRows(at indexPaths: [IndexPath], with animation: RowAnimation) {
      deletedRows += indexPaths
    }
    func reloadRows(at indexPaths: [IndexPath], with animation: RowAnimation) {}
    func moveRow(at indexPath: IndexPath, to newIndexPath: IndexPath) {
      deletedRows.append(indexPath)
      insertedRows.append(newIndexPath)
    }
    func endUpdates() {
      updateCount += 1
      for path in deletedRows { rowCounts[path[0]] -= 1 }
      for section in deletedSections.reversed() { rowCounts.remove(at: section) }
      for section in insertedSections { rowCounts.insert(0, at: section) }
      for path in insertedRows { rowCounts[path[0]] += 1 }
      let wanted = currentCounts()
      if rowCounts != wanted { contradictions.append("\(rowCounts) instead of \(wanted)") }
      rowCounts = wanted
    }

    private func currentCounts() -> [Int] {
      guard let dataSource else { return [] }
      return (0..<dataSource.numberOfSections(in: self)).map {
        dataSource.tableView(self, numberOfRowsInSection: $0)
      }
    }
  }

  class UITableViewController {
    let tableView = UITableView()
    init() { tableView.dataSource = self }
    func viewDidLoad() {}
    func numberOfSections(in tableView: UITableView) -> Int { 1 }
    func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { 0 }
    func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? {
      nil
    }
    func tableView(
      _ tableView: UITableView, cellForRowAt indexPath: IndexPath
    ) -> UITableViewCell { UITableViewCell() }
    func tableView(
      _ tableView: UITableView, commit editingStyle: UITableViewCell.EditingStyle,
      forRowAt indexPath: IndexPath
    ) {}
  }
#endif
