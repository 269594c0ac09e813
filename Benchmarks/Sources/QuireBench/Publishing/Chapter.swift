/// A part of the page of benchmarks: a paragraph, a chart and a table.
struct Chapter: Sendable {
  let title: String
  /// What is measured, and what a reader has to know for reading the table; in Markdown.
  let text: String
  /// The rows in their order, with the words that stand for them, and what is in one transaction,
  /// or one snapshot, of each engine.
  let rows: [(name: String, label: String, transaction: String)]

  /// The name of the file of its chart.
  var chartName: String {
    title.lowercased().split { !$0.isLetter }.joined(separator: "-") + ".svg"
  }

  static let all: [Chapter] = [
    byteKeys, integerKeys, durableCommits, concurrency, processes, openings, large, objects,
    questions, lists,
    tasks, batches, stacks, migrations, kindsOfMigration,
  ]

  // MARK: The storage engine

  private static let byteKeys = Chapter(
    title: "Byte keys",
    text: """
      `QuireStorage` alone: a million keys of 16 bytes with values of 100, gets and scans adding up every byte. \
      SQLite's side is a table `WITHOUT ROWID`. Random puts commit a thousand at a time. The shuffled order, which \
      is made before, takes 40 MB in all programs. Our stores and SQLite have a cache of 512 MB here; LMDB has the \
      system's.
      """,
    rows: [
      ("kv_seq_put", "puts in order", "1,000 puts"),
      ("kv_rand_put", "puts in no order", "1,000 puts"),
      ("kv_rand_get", "gets in no order", "all gets"), ("kv_scan", "scan", "the scan"),
      ("kv_bulk", "built from sorted input", "all puts"),
    ])

  private static let integerKeys = Chapter(
    title: "Integer keys",
    text: """
      The same with keys of 64 bits: our record tree, SQLite's row IDs, LMDB's `MDB_INTEGERKEY`.
      """,
    rows: [
      ("kvi_seq_put", "puts in order", "1,000 puts"),
      ("kvi_rand_put", "puts in no order", "1,000 puts"),
      ("kvi_rand_get", "gets in no order", "all gets"), ("kvi_scan", "scan", "the scan"),
      ("kvi_bulk", "built from sorted input", "all puts"),
    ])

  private static let durableCommits = Chapter(
    title: "Durable commits",
    text: """
      One small row a commit, each on disk before the call returns, by one thread and by eight. *The disk alone* \
      writes 4 KiB over a prepared file and syncs, as often: nothing that waits for the disk once a commit can be \
      faster, but commits of several threads may share a sync. The two first rows are the disk's own. SQLite's eight \
      threads take one connection in turn: with one each they would sleep until another's transaction has ended. An \
      insert outside of a transaction is one of its own.
      """,
    rows: [
      ("overwrite_fdatasync", "the disk: overwrite, sync", ""),
      ("append_fdatasync", "the disk: append, sync", ""),
      ("durable_commit", "commits, one thread", "one put"),
      ("durable_commit_8", "commits, eight threads", "one put"),
    ])

  private static let concurrency = Chapter(
    title: "A writer beside a reader",
    text: """
      Five seconds of a thread that reads at random while another one writes, both without a pause. SQLite's two \
      threads have a connection each.
      """,
    rows: [("conc_reads", "reads", "1,000 gets"), ("conc_writes", "writes", "100 puts")])

  private static let processes = Chapter(
    title: "Several processes",
    text: """
      Five seconds of a process that writes while one, two or four others read at random, all without a pause; the \
      reads of all readers together. On two cores, four readers take turns with each other and with the writer. In \
      the first row two processes commit one entry at a time, ours to a store that is shared; SQLite's wait for each \
      other by its `busy_timeout`, LMDB's by its mutex. Then a reader that opens the store anew each time, beside a \
      process that writes without a pause; the median time from the beginning of a commit until another process that \
      looks all the time sees it; and the bytes that a commit leaves to be shipped: ours in segments, every 100 \
      commits, SQLite's in its write-ahead log.
      """,
    rows: [
      ("proc_turns_2", "commits, two writers", "one put"),
      ("proc_open", "open, read one row, close", "one get"),
      ("proc_heard", "until another process sees a commit", "one put"),
      ("shipped_bytes", "bytes to ship of a commit", "one put"),
    ]
      + [1, 2, 4].flatMap { count in
        let beside = count == 1 ? "one reader" : count == 2 ? "two readers" : "four readers"
        return [
          ("proc_reads_\(count)", "reads, \(beside)", "1,000 gets"),
          ("proc_writes_\(count)", "writes, \(beside)", "100 puts"),
        ]
      })

  private static let openings = Chapter(
    title: "Open, read one row, close",
    text: """
      A store is opened, one row is read, and it is closed again: of some hundred rows and of 100,000, and one with \
      a model and a context on top. SQLite's file is opened for one connection, as ours is for one process, and \
      with nothing set that one row does not need.
      """,
    rows: [
      ("kv_open_close_small", "pages, a small store", "one get"),
      ("kv_open_close", "pages, 100,000 rows", "one get"),
      ("open_close_small", "objects, a small store", "one fetch"),
    ])

  private static let large = Chapter(
    title: "More than fits",
    text: """
      Two gigabytes of rows under the usual cache of 64 MB, ours and SQLite's, which maps the file besides; the goal is the peak of the resident memory. LMDB has \
      all of it in the system's cache, and the pages that it maps count as its memory.
      """,
    rows: [
      ("kv_large_scan", "scan of 2 GB", "the scan"),
      ("kv_large_update", "new values for a hundredth", "1,000 puts"),
    ])

  // MARK: Objects

  private static let objects = Chapter(
    title: "Objects",
    text: """
      100,000 artworks of 1,000 artists, by contexts, managed objects and typed properties, beside two tables with \
      the same indexes. SQLite is used from C, makes neither objects nor strings and looks at its columns in place: \
      that is the floor for a layer of objects, not what an application on top of it would see. Each loop of look-ups \
      is one transaction, as a context reads one snapshot. Faults are compared with the IDs of all rows in an array. \
      A change sees the price before, and then sets it; a deletion reads nothing.
      """,
    rows: [
      ("obj_insert", "insert, one save", "all inserts"),
      ("obj_insert_batched", "insert, a save per 1,000", "1,000 inserts"),
      ("obj_fetch_all", "fetch all, read all", "the fetch"),
      ("obj_fetch_faults", "fetch all as faults", "the fetch"),
      ("obj_release", "let all go", ""), ("obj_fetch_by_pk", "by ID, in no order", "all look-ups"),
      ("obj_traverse", "follow a relationship", "all artists"),
      ("obj_update", "change a tenth", "all changes"),
      ("obj_delete", "delete a tenth", "all deletions"),
    ])

  private static let questions = Chapter(
    title: "Counts, sums, and what an index finds",
    text: """
      Requests in Swift, parsed and planned each time, beside statements that are prepared once, all requests of a row \
      in one transaction. Counts by an index read keys alone; sums and filters read rows. What a filter finds are IDs \
      and dates, where ours are faults.
      """,
    rows: [
      ("obj_fetch_by_slug", "by a unique text", "all requests"),
      ("obj_begins_with", "BEGINSWITH, ten each", "all requests"),
      ("obj_filter_sort", "filter and sort, no index", "all requests"),
      ("obj_count", "count by an index", "all counts"),
      ("obj_group", "count, sum, average by group", "all requests"),
      ("obj_group_count", "count by group", "all requests"),
    ])

  private static let lists = Chapter(
    title: "A list that is kept up to date",
    text: """
      All artworks in the order of their prices; one price changes, and the list is right again, with a delegate \
      that is told of the difference. SQLite changes the row and selects the list again, by an index that is there for \
      it and that ours does without.
      """,
    rows: [("obj_live_list", "one of 100,000 changes", "all changes")])

  private static let tasks = Chapter(
    title: "Tasks and threads",
    text: """
      Sixteen threads that write by `writeAndWait`, and sixteen tasks that `await` a `write`: one object each time, \
      16,000 in all. Reads count one object: what is left is the cost of a context, and for a task the way to a thread \
      of the store's and back. The last row is how late the latest of 500 ticks of 10 ms came, of a task beside two \
      that read without a pause. There are no peers: they have no tasks.
      """,
    rows: [
      ("obj_write_threads", "writes, sixteen threads", "one insert"),
      ("obj_write_tasks", "writes, sixteen tasks", "one insert"),
      ("obj_read_wait", "reads, a thread", "one count"),
      ("obj_read_await", "reads, a task", "one count"),
      ("task_ticker", "the latest tick", "one count"),
    ])

  private static let batches = Chapter(
    title: "Batches",
    text: """
      A million artworks with two indexes, by one request or one statement each. `batch_insert_many` inserts ten \
      million, made on the way: its goal is the peak of memory. SQLite's indexes are dropped before rows are inserted, \
      and made again of sorted keys in the same transaction, as ours are made.
      """,
    rows: [
      ("batch_insert", "insert a million", "all inserts"),
      ("batch_insert_many", "insert ten million", "all inserts"),
      ("batch_update", "double all prices", "all changes"),
      ("batch_delete", "delete half", "all deletions"),
    ])

  private static let stacks = Chapter(
    title: "Stacks in memory",
    text: """
      A coordinator with twenty entities, a store in memory, a context, an object saved and fetched, all taken down: \
      what each test of an application does. The model is there before; so is the image of a database with twenty \
      tables, a copy of which is what each of SQLite's begins as (`sqlite3_deserialize`).
      """,
    rows: [("stack_create", "twenty entities", "one insert")])

  // MARK: Migrations

  private static let migrations = Chapter(
    title: "Migrations",
    text: """
      From the open call to the durable commit. SQLite does what its manual says: a new table filled from the old \
      one, its indexes made again; `ADD COLUMN` where rows are left for later. *Outside the disk* is what is left \
      when the time in calls that write or sync is taken off.
      """,
    rows: [
      ("migrate_small", "300 objects", "the migration"),
      ("migrate_small_outside", "… outside the disk", "the migration"),
      ("migrate_rewrite", "100,000 rows rewritten", "the migration"),
      ("migrate_rewrite_outside", "… outside the disk", "the migration"),
      ("migrate_rewrite_1m", "a million rows rewritten", "the migration"),
      ("migrate_rewrite_1m_outside", "… outside the disk", "the migration"),
      ("migrate_deferred", "a million, rows left", "the migration"),
      ("migrate_deferred_outside", "… outside the disk", "the migration"),
      ("migrate_custom", "100,000 by a policy", "the migration"),
    ])

  private static let kindsOfMigration = Chapter(
    title: "Kinds of migration",
    text: """
      Rows a second of ours alone, by kind of change, of 200,000 rows with four attributes and a to-one relationship. \
      A fifth of a rate is what fits into 0.2 seconds.
      """,
    rows: MigrationKinds.all.map {
      (
        "migrate_kind_" + $0.name, $0.name.split(separator: "_").joined(separator: " "),
        "the migration"
      )
    })

  /// The rows of the first chart: what people ask first.
  static let glance: [(name: String, mode: Mode, label: String)] = [
    ("kv_rand_get", .ordered, "get a key"), ("kv_scan", .ordered, "scan keys and values"),
    ("kv_rand_put", .ordered, "put in no order"), ("kv_seq_put", .ordered, "put in order"),
    ("durable_commit", .full, "durable commit"), ("obj_insert", .ordered, "insert objects"),
    ("obj_fetch_all", .ordered, "fetch and read all objects"),
    ("obj_fetch_by_pk", .ordered, "object by ID"),
    ("obj_fetch_by_slug", .ordered, "object by an index"),
    ("obj_begins_with", .ordered, "objects by BEGINSWITH"),
    ("obj_traverse", .ordered, "follow a relationship"), ("obj_count", .ordered, "count"),
    ("obj_filter_sort", .ordered, "filter and sort"), ("obj_group", .ordered, "sum by group"),
    ("obj_update", .ordered, "change objects"), ("obj_delete", .ordered, "delete objects"),
    ("batch_insert", .ordered, "batch insert, a million"),
    ("batch_update", .ordered, "batch update, a million"),
    ("migrate_rewrite_1m", .full, "migrate a million rows"),
    ("migrate_custom", .full, "migrate by a policy"),
  ]
}
