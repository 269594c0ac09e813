/// A part of the page of benchmarks: a paragraph, a chart and a table.
struct Chapter: Sendable {
  let title: String
  /// What is measured, and what a reader has to know for reading the table; in Markdown.
  let text: String
  /// The rows in their order, with the words that stand for them.
  let rows: [(name: String, label: String)]

  /// The name of the file of its chart.
  var chartName: String {
    title.lowercased().split { !$0.isLetter }.joined(separator: "-") + ".svg"
  }

  static let all: [Chapter] = [
    byteKeys, integerKeys, durableCommits, concurrency, openings, large, objects, questions, lists,
    tasks, batches, stacks, migrations, kindsOfMigration,
  ]

  // MARK: The storage engine

  private static let byteKeys = Chapter(
    title: "Byte keys",
    text: """
      `QuireStorage` alone: a million keys of 16 bytes with values of 100, gets and scans adding up every byte. \
      SQLite's side is a table `WITHOUT ROWID`. Random puts commit a thousand at a time. The shuffled order, which \
      is made before, takes 40 MB in all programs; our stores have a cache of 512 MB here, since the peers have \
      the system's.
      """,
    rows: [
      ("kv_seq_put", "puts in order"), ("kv_rand_put", "puts in no order"),
      ("kv_rand_get", "gets in no order"), ("kv_scan", "scan"),
      ("kv_bulk", "built from sorted input"),
    ])

  private static let integerKeys = Chapter(
    title: "Integer keys",
    text: """
      The same with keys of 64 bits: our record tree, SQLite's row IDs, LMDB's `MDB_INTEGERKEY`.
      """,
    rows: [
      ("kvi_seq_put", "puts in order"), ("kvi_rand_put", "puts in no order"),
      ("kvi_rand_get", "gets in no order"), ("kvi_scan", "scan"),
      ("kvi_bulk", "built from sorted input"),
    ])

  private static let durableCommits = Chapter(
    title: "Durable commits",
    text: """
      One small row a commit, each on disk before the call returns, by one thread and by eight. *The disk alone* \
      writes 4 KiB over a prepared file and syncs, as often: nothing that waits for the disk once a commit can be \
      faster, but commits of several threads may share a sync. The two first rows are the disk's own.
      """,
    rows: [
      ("overwrite_fdatasync", "the disk: overwrite, sync"),
      ("append_fdatasync", "the disk: append, sync"), ("durable_commit", "commits, one thread"),
      ("durable_commit_8", "commits, eight threads"),
    ])

  private static let concurrency = Chapter(
    title: "A writer beside a reader",
    text: """
      Five seconds of a thread that reads at random while another one writes, both without a pause.
      """,
    rows: [("conc_reads", "reads"), ("conc_writes", "writes")])

  private static let openings = Chapter(
    title: "Open, read one row, close",
    text: """
      A store is opened, one row is read, and it is closed again: of some hundred rows and of 100,000, and one with \
      a model and a context on top.
      """,
    rows: [
      ("kv_open_close_small", "pages, a small store"), ("kv_open_close", "pages, 100,000 rows"),
      ("open_close_small", "objects, a small store"),
    ])

  private static let large = Chapter(
    title: "More than fits",
    text: """
      Two gigabytes of rows under the usual cache of 64 MB; the goal is the peak of the resident memory. LMDB has \
      all of it in the system's cache, and the pages that it maps count as its memory.
      """,
    rows: [
      ("kv_large_scan", "scan of 2 GB"), ("kv_large_update", "new values for a hundredth"),
    ])

  // MARK: Objects

  private static let objects = Chapter(
    title: "Objects",
    text: """
      100,000 artworks of 1,000 artists, by contexts, managed objects and typed properties, beside two tables with \
      the same indexes. SQLite is used from C, makes neither objects nor strings and looks at its columns in place: \
      that is the floor for a layer of objects, not what an application on top of it would see.
      """,
    rows: [
      ("obj_insert", "insert, one save"), ("obj_insert_batched", "insert, a save per 1,000"),
      ("obj_fetch_all", "fetch all, read all"), ("obj_fetch_faults", "fetch all as faults"),
      ("obj_release", "let all go"), ("obj_fetch_by_pk", "by ID, in no order"),
      ("obj_traverse", "follow a relationship"), ("obj_update", "change a tenth"),
      ("obj_delete", "delete a tenth"),
    ])

  private static let questions = Chapter(
    title: "Counts, sums, and what an index finds",
    text: """
      Requests in Swift, parsed and planned each time, beside statements that are prepared once. Counts by an index \
      read keys alone; sums and filters read rows.
      """,
    rows: [
      ("obj_fetch_by_slug", "by a unique text"), ("obj_begins_with", "BEGINSWITH, ten each"),
      ("obj_filter_sort", "filter and sort, no index"), ("obj_count", "count by an index"),
      ("obj_group", "count, sum, average by group"), ("obj_group_count", "count by group"),
    ])

  private static let lists = Chapter(
    title: "A list that is kept up to date",
    text: """
      All artworks in the order of their prices; one price changes, and the list is right again, with a delegate \
      that is told of the difference. SQLite changes the row and selects the list again.
      """,
    rows: [("obj_live_list", "one of 100,000 changes")])

  private static let tasks = Chapter(
    title: "Tasks and threads",
    text: """
      Sixteen threads that write by `writeAndWait`, and sixteen tasks that `await` a `write`: one object each time, \
      16,000 in all. Reads count one object: what is left is the cost of a context, and for a task the way to a thread \
      of the store's and back. The last row is how late the latest of 500 ticks of 10 ms came, of a task beside two \
      that read without a pause. There are no peers: they have no tasks.
      """,
    rows: [
      ("obj_write_threads", "writes, sixteen threads"),
      ("obj_write_tasks", "writes, sixteen tasks"), ("obj_read_wait", "reads, a thread"),
      ("obj_read_await", "reads, a task"), ("task_ticker", "the latest tick"),
    ])

  private static let batches = Chapter(
    title: "Batches",
    text: """
      A million artworks with two indexes, by one request or one statement each. `batch_insert_many` inserts ten \
      million, made on the way: its goal is the peak of memory.
      """,
    rows: [
      ("batch_insert", "insert a million"), ("batch_insert_many", "insert ten million"),
      ("batch_update", "double all prices"), ("batch_delete", "delete half"),
    ])

  private static let stacks = Chapter(
    title: "Stacks in memory",
    text: """
      A coordinator with twenty entities, a store in memory, a context, an object saved and fetched, all taken down: \
      what each test of an application does. The peer makes twenty tables.
      """,
    rows: [("stack_create", "twenty entities")])

  // MARK: Migrations

  private static let migrations = Chapter(
    title: "Migrations",
    text: """
      From the open call to the durable commit. SQLite does what its manual says: a new table filled from the old \
      one, its indexes made again; `ADD COLUMN` where rows are left for later. *Outside the disk* is what is left \
      when the time in calls that write or sync is taken off.
      """,
    rows: [
      ("migrate_small", "300 objects"), ("migrate_small_outside", "… outside the disk"),
      ("migrate_rewrite", "100,000 rows rewritten"),
      ("migrate_rewrite_outside", "… outside the disk"),
      ("migrate_rewrite_1m", "a million rows rewritten"),
      ("migrate_rewrite_1m_outside", "… outside the disk"),
      ("migrate_deferred", "a million, rows left"),
      ("migrate_deferred_outside", "… outside the disk"),
      ("migrate_custom", "100,000 by a policy"),
    ])

  private static let kindsOfMigration = Chapter(
    title: "Kinds of migration",
    text: """
      Rows a second of ours alone, by kind of change, of 200,000 rows with four attributes and a to-one relationship. \
      A fifth of a rate is what fits into 0.2 seconds.
      """,
    rows: MigrationKinds.all.map {
      ("migrate_kind_" + $0.name, $0.name.split(separator: "_").joined(separator: " "))
    })

  /// The rows of the first chart: what people ask first.
  static let glance: [(name: String, mode: Mode, label: String)] = [
    ("kv_rand_get", .ordered, "get a key"), ("kv_scan", .ordered, "scan keys and values"),
    ("kv_rand_put", .ordered, "put in no order"), ("durable_commit", .full, "durable commit"),
    ("obj_insert", .ordered, "insert objects"),
    ("obj_fetch_all", .ordered, "fetch and read all objects"),
    ("obj_fetch_by_pk", .ordered, "object by ID"),
    ("obj_fetch_by_slug", .ordered, "object by an index"),
    ("obj_filter_sort", .ordered, "filter and sort"), ("obj_group", .ordered, "sum by group"),
    ("obj_delete", .ordered, "delete objects"),
    ("batch_insert", .ordered, "batch insert, a million"),
    ("batch_update", .ordered, "batch update, a million"),
    ("migrate_rewrite_1m", .full, "migrate a million rows"),
  ]
}
