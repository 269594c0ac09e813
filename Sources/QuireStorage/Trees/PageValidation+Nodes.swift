extension PageValidation {
  /// With what both layouts demand of their nodes.
  static let ofTrees = PageValidation { node, type, geometry in
    switch type {
    case .recordLeaf, .recordInner: RecordLayout.defect(of: node, geometry: geometry)
    case .indexLeaf, .indexInner: IndexLayout.defect(of: node, geometry: geometry)
    case .map, .overflow: nil
    }
  }
}
