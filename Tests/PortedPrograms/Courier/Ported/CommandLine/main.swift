import CourierCore
import Foundation
import QuireCoreData

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else {
  print("usage: courier STORE import FILE | export | report | arrive CODE ADDRESS")
  exit(64)
}

func print(_ request: NSFetchRequest<Parcel>, in context: NSManagedObjectContext) throws {
  for parcel in try context.fetch(request) {
    print(parcel.code, parcel.state, parcel.route.map(\.address).joined(separator: " > "))
  }
}

do {
  let store = try Store(url: URL(fileURLWithPath: arguments[0]))
  let engine = SyncEngine(store: store)
  switch arguments[1] {
  case "import" where arguments.count == 3:
    let text = try String(contentsOfFile: arguments[2], encoding: .utf8)
    let summary = try engine.merge(Feed().messages(in: text))
    print("\(summary.inserted) inserted, \(summary.updated) updated")
    for line in summary.rejected { print("rejected", line) }
  case "export":
    print(try Feed().text(of: engine.outgoing()))
  case "report":
    let request: NSFetchRequest<Parcel> = Parcel.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
    try print(request, in: store.container.viewContext)
  case "arrive" where arguments.count == 4:
    let found = try engine.arrive(parcel: arguments[2], at: arguments[3], on: Date())
    print(found ? "noted" : "there is no such stop")
  default:
    print("unknown command: \(arguments[1])")
    exit(64)
  }
} catch let error as NSError where error.domain == NSCocoaErrorDomain {
  print("error \(error.code): \(error.localizedDescription)")
  exit(1)
}
