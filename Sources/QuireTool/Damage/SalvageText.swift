import Foundation
import Quire

/// A salvage's report as lines.
struct SalvageText {
  private let report: SalvageReport
  /// The largest number of lines for one kind of loss.
  private static let limit = 10

  init(_ report: SalvageReport) { self.report = report }

  /// What is kept and what is lost of each entity.
  var entities: String {
    var grid = Grid([("entity", .left), ("kept", .right), ("lost", .right)])
    for entity in report.entities {
      grid.add([
        entity.name, entity.keptCount.grouped,
        entity.lostCount == 0 ? "" : entity.lostCount.grouped,
      ])
    }
    return grid.text
  }

  /// What is missing, in lines; none if nothing is.
  var missing: [String] { missing { _ in true } }

  /// What is missing of one entity: objects, and links and values of those that are kept.
  func missing(ofEntity name: String) -> [String] { missing { $0 == name } }

  private func missing(_ isMeant: (_ entity: String) -> Bool) -> [String] {
    var lines: [String] = []
    for entity in report.entities where entity.lostCount > 0 && isMeant(entity.name) {
      lines.append(
        "\(entity.lostCount.counting("object")) of \(entity.name) lost\(keys(of: entity))")
    }
    lines += shortened(
      report.brokenLinks.filter { isMeant($0.entity) }.map {
        "\($0.entity)/p\($0.key).\($0.relationship) referred to "
          + "\($0.destination)/p\($0.destinationKey), which is lost"
      }, "links to lost objects")
    lines += report.lostLinks.filter { isMeant($0.entity) }.map {
      "\($0.count.counting("link")) of \($0.entity).\($0.relationship) lost"
    }
    lines += shortened(
      report.lostValues.filter { isMeant($0.entity) }.map {
        "the value of \($0.entity)/p\($0.key).\($0.attribute) is lost"
      }, "values")
    return lines
  }

  private func keys(of entity: SalvageReport.Entity) -> String {
    if entity.lostKeys.isEmpty { return "" }
    let shown = entity.lostKeys.prefix(Self.limit).map { "p\($0)" }.joined(separator: ", ")
    let isAll = entity.lostKeys.count == entity.lostCount && entity.lostKeys.count <= Self.limit
    return isAll ? ": \(shown)" : ", among them \(shown)"
  }

  private func shortened(_ lines: [String], _ what: String) -> [String] {
    guard lines.count > Self.limit else { return lines }
    return lines.prefix(Self.limit) + ["… and \((lines.count - Self.limit).grouped) more \(what)"]
  }
}

extension JSONValue {
  init(_ report: SalvageReport) {
    self = [
      "source": .string(report.source),
      "store": .string(report.store),
      "version": JSONValue(report.versionName),
      "isComplete": JSONValue(report.isComplete),
      "kept": JSONValue(report.keptCount),
      "lost": JSONValue(report.lostCount),
      "entities": .array(
        report.entities.map {
          [
            "name": .string($0.name), "kept": JSONValue($0.keptCount),
            "lost": JSONValue($0.lostCount),
            "lostKeys": .array($0.lostKeys.map { JSONValue(Int($0)) }),
          ]
        }),
      "brokenLinks": .array(
        report.brokenLinks.map {
          [
            "entity": .string($0.entity), "key": JSONValue(Int($0.key)),
            "relationship": .string($0.relationship), "destination": .string($0.destination),
            "destinationKey": JSONValue(Int($0.destinationKey)),
          ]
        }),
      "lostLinks": .array(
        report.lostLinks.map {
          [
            "entity": .string($0.entity), "relationship": .string($0.relationship),
            "count": JSONValue($0.count),
          ]
        }),
      "lostValues": .array(
        report.lostValues.map {
          [
            "entity": .string($0.entity), "key": JSONValue(Int($0.key)),
            "attribute": .string($0.attribute),
          ]
        }),
      "restoredLinks": JSONValue(report.restoredLinkCount),
      "damage": JSONValue(report.damage),
      "notes": JSONValue(report.notes),
    ]
  }
}
