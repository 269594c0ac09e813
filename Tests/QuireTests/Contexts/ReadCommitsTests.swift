import Quire
import QuireStorage
import Testing

/// The commits whose rows a context has in memory.
@Suite struct ReadCommitsTests {
  private func commit(_ number: Int) -> CommitNumber { CommitNumber(rawValue: UInt64(number)) }

  private func commits(_ numbers: Int...) -> [CommitNumber] { numbers.map(commit) }

  @Test func `before anything is read, all rows are of one state`() {
    var read = ReadCommits()
    #expect(read.areOfOneState)
    read.insert(commits(3))
    read.move(to: commit(7), isFirst: false)
    #expect(read.areOfOneState)
  }

  @Test func `rows are older than a state that others have saved, until that is read`() {
    var read = ReadCommits()
    read.move(to: commit(5), isFirst: true)
    read.move(to: commit(8), isFirst: false)
    #expect(!read.areOfOneState)
    read.insert(commits(8, 6))
    #expect(!read.areOfOneState, "nobody told of commit 7")
    read.insert(commits(7))
    #expect(read.areOfOneState)
  }

  @Test func `a save of its own is read, and says nothing of those before it`() {
    var read = ReadCommits()
    read.move(to: commit(5), isFirst: true)
    read.move(to: commit(6), isFirst: false)
    read.insert(commits(6))
    #expect(read.areOfOneState)
    read.move(to: commit(8), isFirst: false)
    read.insert(commits(8))
    #expect(!read.areOfOneState)
  }

  @Test func `rows are newer than a state that the context has gone back to`() {
    var read = ReadCommits()
    read.move(to: commit(5), isFirst: true)
    read.move(to: commit(3), isFirst: false)
    #expect(!read.areOfOneState)
    read.insert(commits(4, 5))
    #expect(!read.areOfOneState, "what is read of later saves is no row of the state")
    read.move(to: commit(5), isFirst: false)
    #expect(read.areOfOneState)
    read.move(to: commit(3), isFirst: true)
    #expect(read.areOfOneState, "all rows are read again")
  }

  @Test func `a row of an older state is none of the present one, until all are read again`() {
    var read = ReadCommits()
    read.move(to: commit(5), isFirst: true)
    read.insertOlder()
    read.move(to: commit(6), isFirst: false)
    read.insert(commits(6))
    #expect(!read.areOfOneState)
    read.move(to: commit(6), isFirst: true)
    #expect(read.areOfOneState)
  }

  @Test func `commits beyond the limit of the list count as not read`() {
    var read = ReadCommits()
    read.move(to: commit(1), isFirst: true)
    let last = ReadCommits.limit + 4
    for number in 3...last {
      read.move(to: commit(number), isFirst: false)
      read.insert(commits(number))
    }
    read.insert(commits(2))
    #expect(!read.areOfOneState)
    read.move(to: commit(last), isFirst: true)
    #expect(read.areOfOneState)
  }
}
