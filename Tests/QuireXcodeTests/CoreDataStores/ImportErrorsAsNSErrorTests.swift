import Foundation
import QuireXcode
import Testing

@Suite struct ImportErrorsAsNSErrorTests {
  @Test func `an error of SQLite has Core Data's code for it, and the file`() throws {
    let error = SQLiteError(file: "/tmp/a.sqlite", reason: .notADatabase("it is a picture"))
    let converted = error as NSError
    #expect(converted.domain == "NSCocoaErrorDomain" && converted.code == 134180)
    #expect(converted.userInfo[NSFilePathErrorKey] as? String == "/tmp/a.sqlite")
    #expect(converted.localizedDescription == "\(error)")
  }

  @Test func `an import that fails has Core Data's code for it, with what is behind it`() throws {
    let file = SQLiteError(file: "/tmp/a.sqlite", reason: .notADatabase("it is a picture"))
    let error = CoreDataStoreError(file: "/tmp/a.sqlite", reason: .file(file))
    let converted = error as NSError
    #expect(converted.domain == "NSCocoaErrorDomain" && converted.code == 134200)
    #expect((converted.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 134180)
    #expect(error.localizedDescription == "\(error)")
  }
}
