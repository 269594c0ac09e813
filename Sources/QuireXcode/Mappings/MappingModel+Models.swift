import Foundation
import Quire
import QuireModel

extension MappingModel {
  /// The mapping model in a file, between whichever two of some versions of models it maps.
  ///
  /// Of several pairs that fit, one is taken whose names the file has, else one whose versions
  /// follow each other, the nearer the better. A document without copies of its models fits by
  /// names alone: what it maps may be in any model.
  ///
  /// - Parameter versions: in the order of their history.
  /// - Returns: `nil` if it fits none.
  /// - Throws: an error if the file cannot be read.
  package init?(
    contentsOf url: URL, among versions: [VersionedModel.Version]
  ) throws(XcodeMappingError) {
    let file = try XcodeMappingFile(contentsOf: url)
    let steps = versions.indices.dropFirst()
    let pairs =
      steps.flatMap { step in (step..<versions.count).map { ($0 - step, $0) } }
      + steps.flatMap { step in (step..<versions.count).map { ($0, $0 - step) } }
    let named = pairs.filter { file.isNamed(versions[$0.0].name, versions[$0.1].name) }
    let outlines = versions.map { XcodeModelOutline($0.model) }
    let own = file.outlines
    for (source, destination) in own.areThere ? named + pairs : named {
      guard own.fit(outlines[source], outlines[destination]),
        let found = try? XcodeMappingModel(
          file, versions[source].model, versions[destination].model, [])
      else { continue }
      self = found.mappingModel
      return
    }
    return nil
  }
}

extension XcodeMappingFile {
  /// Whether the file says that it was written for the versions of these names.
  fileprivate func isNamed(_ source: String, _ destination: String) -> Bool {
    guard case .document(let document) = content else { return false }
    func name(_ path: String?) -> String? {
      path?.split(separator: "/").last.map { String($0.replacing(".xcdatamodel", with: "")) }
    }
    return name(document.sourceModelPath) == source
      && name(document.destinationModelPath) == destination
  }
}
