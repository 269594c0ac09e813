// The index beside a list.
extension FetchedResultsController {
  /// The title of a section in an index, unless the delegate returns another: the first letter of
  /// its name in upper case, `nil` if the name is empty.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    Self.usualIndexTitle(of: name)
  }

  static func usualIndexTitle(of name: String) -> String? {
    name.first.map { String($0).uppercased() }
  }

  func indexTitle(of name: String) -> String? {
    delegate.map { $0.controller(self, sectionIndexTitleForSectionName: name) }
      ?? sectionIndexTitle(forSectionName: name)
  }

  /// The titles of all sections in their order, each once.
  public var sectionIndexTitles: [String] { titledSections.map(\.title) }

  /// The number of the section that a title of ``sectionIndexTitles`` refers to: the first section
  /// with that title.
  ///
  /// - Parameter index: the position of the title in ``sectionIndexTitles``.
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when it is not there.
  public func section(forSectionIndexTitle title: String, at index: Int) throws -> Int {
    let titles = titledSections
    guard titles.indices.contains(index), titles[index].title == title else {
      throw PersistenceError(
        .undefinedKey, "\(title) is not number \(index) of the controller's index titles")
    }
    return titles[index].section
  }

  private var titledSections: [(title: String, section: Int)] {
    var titles: [(title: String, section: Int)] = []
    var known: Set<String> = []
    for (index, section) in (list?.sections ?? []).enumerated() {
      if let title = indexTitle(of: section.name), known.insert(title).inserted {
        titles.append((title, index))
      }
    }
    return titles
  }
}
