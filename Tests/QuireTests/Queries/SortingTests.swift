import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Orders of a fetch: natural texts, absent values at either end; and arrays in the same orders.
@Suite struct SortingTests {
  private static let model = try! ManagedObjectModel {
    Entity("File") {
      Attribute("name", .string)
      Attribute("size", .integer32)
      Relationship("folder", toOne: "Folder", inverse: "files")
      FetchIndex("byName", on: "name")
      FetchIndex("bySize", on: "size", "name")
    }
    Entity("Folder") {
      Attribute("name", .string)
      Relationship("files", toMany: "File", inverse: "folder")
    }
  }

  private static func names(
    _ context: ManagedObjectContext, _ descriptors: [FetchSortDescriptor], limit: Int = 0
  ) throws -> [String?] {
    var request = FetchRequest<ManagedObject>(entityName: "File")
    request.sortDescriptors = descriptors
    request.fetchLimit = limit
    return try context.fetch(request).map { try $0.value(forKey: "name") as? String }
  }

  @Test(arguments: GotchaHome.allCases)
  func `files are in natural order`(_ home: GotchaHome) throws {
    try home.withContext(Self.model, classes: []) { context in
      for name in ["file10", "File2", "file1", nil, "été", "zoo", "file2"] {
        try context.insert("File", name.map { ["name": $0] } ?? [:])
      }
      let natural = FetchSortDescriptor(key: "name", options: .natural)
      let order = [nil, "été", "file1", "file2", "File2", "file10", "zoo"]
      for _ in 0..<2 {
        #expect(try Self.names(context, [natural]) == order)
        #expect(try Self.names(context, [natural], limit: 4) == Array(order.prefix(4)))
        #expect(try Self.names(context, [natural.reversedSortDescriptor]) == order.reversed())
        try context.save()
        context.reset()
      }
      var request = FetchRequest<ManagedObject>(entityName: "File")
      request.predicate = try FetchPredicate(format: "name <[l] 'file3'")
      #expect(try context.count(for: request) == 4)
      request.predicate = try FetchPredicate(format: "name <[cl] 'FILE2'")
      #expect(try context.count(for: request) == 2)
    }
  }

  // The oracle sorts plain values; ties keep the order of the fetch without descriptors.
  @Test(arguments: GotchaHome.allCases)
  func `a fetch with a limit, and an array, are in the order of plain Swift`(
    _ home: GotchaHome
  ) throws {
    try home.withContext(Self.model, classes: []) { context in
      var generator = SeededGenerator(seed: 3)
      let folders = try (0..<3).map { number in
        try context.insert("Folder", number == 0 ? [:] : ["name": "folder\(number * 7)"])
      }
      for _ in 0..<40 {
        let file = try context.insert("File", [:])
        if generator.below(4) > 0 { try file.setValue(generator.below(4), forKey: "size") }
        if generator.below(4) > 0 {
          try file.setValue(["a1", "A1", "a10", "a9", "é"][generator.below(5)], forKey: "name")
        }
        let place = generator.below(4)
        if place < 3 { try file.setValue(folders[place], forKey: "folder") }
      }
      try context.save()
      for isDisturbed in [false, true] {
        if isDisturbed {
          for file in try context.fetch(FetchRequest<ManagedObject>(entityName: "File")) {
            if generator.below(3) == 0 { try file.setValue(generator.below(4), forKey: "size") }
          }
        }
        let plain = try context.fetch(FetchRequest<ManagedObject>(entityName: "File"))
        for _ in 0..<Amount.of(debug: 8, release: 60) {
          let descriptors = (0..<generator.below(3) + 1).map { _ in
            FetchSortDescriptor(
              key: ["size", "name", "folder.name"][generator.below(3)],
              ascending: generator.below(2) == 0,
              options: [[], .natural, .caseInsensitive][generator.below(3)],
              absentValues: [.smallest, .first, .last][generator.below(3)])
          }
          let expected = try plain.enumerated().sorted { left, right in
            for descriptor in descriptors {
              let order = try Self.order(left.element, right.element, descriptor)
              if order != 0 { return order < 0 }
            }
            return left.offset < right.offset
          }.map(\.element)
          var request = FetchRequest<ManagedObject>(entityName: "File")
          request.sortDescriptors = descriptors
          #expect(try context.fetch(request) == expected, "\(descriptors)")
          request.fetchLimit = 7
          #expect(try context.fetch(request) == Array(expected.prefix(7)), "\(descriptors)")
          #expect(try plain.sorted(using: descriptors) == expected, "\(descriptors)")
        }
      }
    }
  }

  private static func order(
    _ left: ManagedObject, _ right: ManagedObject, _ descriptor: FetchSortDescriptor
  ) throws -> Int {
    let (left, right) = (
      try left.value(forKeyPath: descriptor.key), try right.value(forKeyPath: descriptor.key)
    )
    if left == nil || right == nil {
      if left == nil && right == nil { return 0 }
      let absentFirst =
        switch descriptor.absentValues {
        case .smallest: descriptor.ascending
        case .first: true
        case .last: false
        }
      return (left == nil) == absentFirst ? -1 : 1
    }
    let order: Int
    if let left = left as? Int, let right = right as? Int {
      order = left < right ? -1 : left == right ? 0 : 1
    } else {
      // In the natural order each is before those behind it; in that of Unicode the capital is
      // first.
      let natural = ["a1", "A1", "a9", "a10", "é", "folder7", "folder14"]
      let plain = ["A1", "a1", "a10", "a9", "folder14", "folder7", "é"]
      let folded = ["a1", "a10", "a9", "folder14", "folder7", "é"]
      let places =
        descriptor.options == .natural ? natural : descriptor.options == [] ? plain : folded
      func place(_ value: Any?) -> Int? {
        let text = value as? String ?? ""
        return places.firstIndex(of: places == folded ? text.lowercased() : text)
      }
      order = try #require(place(left)) - #require(place(right))
    }
    return descriptor.ascending ? order : -order
  }

  @Test(arguments: GotchaHome.allCases)
  func `UUIDs are in the order of their bytes, the first one before all others`(
    _ home: GotchaHome
  ) throws {
    let texts = [
      "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-0000000000FF",
      "00000000-0000-0000-0100-000000000000", "00000000-0001-0000-0000-000000000000",
      "00010000-0000-0000-0000-0000000000FE", "7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
      "80000000-0000-0000-0000-000000000000", "FF000000-0000-0000-0000-000000000000",
    ]
    let model = try ManagedObjectModel {
      Entity("Item") {
        Attribute("plain", .uuid)
        Attribute("indexed", .uuid)
        FetchIndex("byIndexed", on: "indexed")
      }
    }
    try home.withContext(model, classes: []) { context in
      for place in [3, 6, 0, 7, 1, 5, 2, 4] {
        let uuid = try #require(UUID(uuidString: texts[place]))
        try context.insert("Item", ["plain": uuid, "indexed": uuid])
      }
      for state in ["unsaved", "saved", "rows"] {
        if state == "saved" { try context.save() }
        if state == "rows" { context.reset() }
        for key in ["plain", "indexed"] {
          func found(_ format: String, _ places: Int...) throws -> [String] {
            var request = FetchRequest<ManagedObject>(entityName: "Item")
            let bounds: [(any PredicateConvertible)?] = places.map { UUID(uuidString: texts[$0]) }
            request.predicate = try FetchPredicate(format: format, argumentArray: [key] + bounds)
            request.sortDescriptors = [FetchSortDescriptor(key: key)]
            let found = try context.fetch(request)
            request.sortDescriptors = [FetchSortDescriptor(key: key, ascending: false)]
            #expect(try context.fetch(request) == found.reversed(), "\(state), \(key)")
            return try found.compactMap { (try $0.value(forKey: key) as? UUID)?.uuidString }
          }
          #expect(try found("%K != nil") == texts, "\(state), \(key)")
          for (place, _) in texts.enumerated() {
            #expect(try found("%K < %@", place) == Array(texts[..<place]), "\(state), \(key)")
            #expect(try found("%K >= %@", place) == Array(texts[place...]), "\(state), \(key)")
          }
          #expect(
            try found("%K BETWEEN {%@, %@}", 2, 6) == Array(texts[2...6]), "\(state), \(key)")
        }
      }
    }
  }

  @Test func `an array is sorted by keys that have one value`() throws {
    let context = try ManagedObjectContext.stubbed(Self.model)
    let folder = try context.insert("Folder", ["name": "a"])
    #expect(throws: PersistenceError.self) {
      try [folder].sorted(using: FetchSortDescriptor(key: "files.name"))
    }
    #expect(throws: PersistenceError.self) {
      try [folder].sorted(using: FetchSortDescriptor(key: "nothing"))
    }
    #expect(try [folder].sorted(using: FetchSortDescriptor(key: "files.@count")) == [folder])
  }
}
