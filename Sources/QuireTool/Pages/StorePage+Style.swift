extension StorePage {
  static let style = #"""
    :root {
      --ground: #ffffff; --panel: #f5f7fa; --raised: #ffffff; --ink: #1b2733; --quiet: #55657a;
      --edge: #d5dde6; --accent: #1f5fae; --accent-soft: #e3edf9; --bad: #a3211c;
      --bad-soft: #fdecea; --note-soft: #fff6dd; --stripe: #f8fafc;
      --kind0: #6b7280; --kind1: #7c3aed; --kind2: #c026d3; --kind3: #2563eb; --kind4: #1e3a8a;
      --kind5: #0d9488; --kind6: #115e59; --kind7: #d97706; --kind8: #cbd5e1; --kind9: #dc2626;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #12181f; --panel: #19212a; --raised: #1e2833; --ink: #e4eaf1; --quiet: #9dadbf;
        --edge: #33414f; --accent: #86b6f2; --accent-soft: #22344a; --bad: #ff9d92;
        --bad-soft: #3d1f1f; --note-soft: #3a3116; --stripe: #161e26;
        --kind0: #9ca3af; --kind1: #a78bfa; --kind2: #e879f9; --kind3: #60a5fa; --kind4: #3b6fd4;
        --kind5: #2dd4bf; --kind6: #12968a; --kind7: #fbbf24; --kind8: #334155; --kind9: #f87171;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { scroll-padding-top: 4rem; }
    body {
      margin: 0; background: var(--ground); color: var(--ink);
      font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
      display: grid; grid-template: "header header" auto "nav main" 1fr / 15rem minmax(0, 1fr);
      min-height: 100vh;
    }
    a { color: var(--accent); text-underline-offset: .15em; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
    .skip, .spoken {
      position: absolute; left: 0; top: 0; width: 1px; height: 1px; margin: 0; overflow: hidden;
      clip-path: inset(50%); white-space: nowrap;
    }
    .skip:focus {
      width: auto; height: auto; clip-path: none; padding: .5rem 1rem; z-index: 9;
      background: var(--ground);
    }

    /* The frame of the page */
    header {
      grid-area: header; position: sticky; top: 0; z-index: 3; display: flex; gap: 1rem;
      align-items: center; justify-content: space-between; min-height: 3rem; padding: 0 1.25rem;
      background: var(--panel); border-bottom: 1px solid var(--edge);
    }
    .brand {
      color: inherit; font-weight: 650; text-decoration: none; overflow: hidden;
      text-overflow: ellipsis; white-space: nowrap;
    }
    nav {
      grid-area: nav; position: sticky; top: 3rem; align-self: start; overflow: auto;
      max-height: calc(100vh - 3rem); padding: 1rem .75rem 2rem; border-right: 1px solid var(--edge);
      min-height: calc(100vh - 3rem);
    }
    nav h2 {
      margin: 1.25rem .6rem .25rem; color: var(--quiet); font-size: .75rem; font-weight: 600;
      letter-spacing: .05em; text-transform: uppercase;
    }
    nav ul { list-style: none; margin: 0; padding: 0; }
    nav a {
      display: flex; justify-content: space-between; gap: .5rem; padding: .2rem .6rem;
      border-radius: 5px; color: inherit; text-decoration: none;
    }
    nav a span:first-child { overflow: hidden; text-overflow: ellipsis; }
    nav a:hover { background: var(--panel); }
    nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
    nav .count { color: var(--quiet); font-weight: 400; font-variant-numeric: tabular-nums; }
    nav .abstract { font-style: italic; }
    nav .failed::after { content: " ⚠"; color: var(--bad); }
    #menu { display: none; }
    main { grid-area: main; padding: 1.25rem 2rem 4rem; min-width: 0; }
    main:focus, h1:focus { outline: none; }
    body > #diagram { grid-column: 1 / -1; padding: 1rem; }

    /* Text */
    h1 { margin: 0 0 .25rem; font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
    h2 { margin: 2.25rem 0 .6rem; font-size: 1.1rem; }
    .lead { margin: 0 0 1rem; color: var(--quiet); }
    .quiet, .nil { color: var(--quiet); }
    .nil { font-style: italic; }
    .mono { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
    .notice {
      margin: 1rem 0; padding: .6rem .9rem; border-radius: 6px; background: var(--note-soft);
    }
    .problem { background: var(--bad-soft); color: var(--bad); }
    .notice ul { margin: .25rem 0 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
    .badge {
      display: inline-block; margin-left: .5rem; padding: 0 .5rem; border: 1px solid var(--edge);
      border-radius: 99px; color: var(--quiet); font-size: .8rem; font-weight: 400;
      vertical-align: middle;
    }

    /* Controls */
    button, input, select {
      font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--edge);
      border-radius: 6px; padding: .3rem .7rem;
    }
    button { cursor: pointer; }
    button:hover:not(:disabled) { border-color: var(--accent); }
    button:disabled { opacity: .45; cursor: default; }
    .bar { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; margin: .75rem 0; }
    .bar input[type=search] { flex: 1 1 14rem; max-width: 26rem; min-width: 8rem; }
    .bar .quiet { font-variant-numeric: tabular-nums; }
    fieldset { border: 0; margin: 0; padding: 0; display: flex; gap: .9rem; align-items: center; }
    legend { float: left; margin-right: .9rem; padding: 0; }

    /* Figures */
    .facts {
      display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .6rem;
      margin: 1rem 0;
    }
    .facts div { padding: .55rem .8rem; background: var(--panel); border-radius: 8px; }
    .facts .wide { grid-column: span 2; }
    .facts .wide dd { font-size: .9rem; }
    .facts dt { color: var(--quiet); font-size: .8rem; }
    .facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }

    /* Tables */
    .scroll { overflow-x: auto; border: 1px solid var(--edge); border-radius: 8px; }
    table { border-collapse: collapse; width: 100%; font-size: .92rem; }
    th, td { padding: .35rem .75rem; text-align: left; vertical-align: top; }
    thead th {
      background: var(--panel); border-bottom: 1px solid var(--edge); white-space: nowrap;
      padding: 0;
    }
    thead th > button, thead th > span {
      display: block; width: 100%; padding: .4rem .75rem; border: 0; border-radius: 0;
      background: none; font-weight: 600; text-align: inherit;
    }
    thead th > button::after { content: " ↕"; color: var(--quiet); opacity: .45; }
    thead th[aria-sort=ascending] > button::after { content: " ↑"; opacity: 1; }
    thead th[aria-sort=descending] > button::after { content: " ↓"; opacity: 1; }
    tbody tr { background: var(--ground); }
    tbody tr:nth-child(even) { background: var(--stripe); }
    tbody tr:hover, tbody tr:focus-within { background: var(--accent-soft); }
    .scroll > table:not(.object) tr > :first-child {
      position: sticky; left: 0; background: inherit; z-index: 1;
    }
    .scroll > table:not(.object) thead tr > :first-child { background: var(--panel); }
    tbody th { font-weight: 500; white-space: nowrap; }
    tbody td { max-width: 22rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .number { text-align: right; font-variant-numeric: tabular-nums; }
    .share {
      display: inline-block; height: .55rem; min-width: 1px; margin-right: .5rem;
      border-radius: 2px; background: var(--kind3); vertical-align: baseline;
    }

    /* An object */
    .parts h2 { margin-top: 1rem; }
    .parts { display: grid; gap: 0 2rem; }
    @media (min-width: 80rem) { .parts { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
    .object th { width: 1%; font-weight: 500; white-space: nowrap; }
    .object td { max-width: none; white-space: pre-wrap; overflow-wrap: anywhere; }
    .object td ul { margin: 0; padding: 0; list-style: none; white-space: normal; }
    .object td ol { margin: 0; padding-left: 1.6rem; white-space: normal; }
    .type { margin-left: .3rem; font-size: .85em; font-weight: 400; color: var(--quiet); }

    /* The diagram and the map of pages */
    .picture {
      overflow: auto; max-height: 82vh; border: 1px solid var(--edge); border-radius: 8px;
      background: var(--ground);
    }
    .picture svg { display: block; }
    .picture.fitted svg { max-width: 100%; height: auto; }
    .legend { display: flex; flex-wrap: wrap; gap: .35rem; margin: .75rem 0; padding: 0; }
    .legend li { list-style: none; }
    .legend button { display: flex; align-items: center; gap: .45rem; padding: .15rem .6rem; }
    .legend button[aria-pressed=true] {
      border-color: var(--accent); background: var(--accent-soft);
    }
    .swatch { width: .85rem; height: .85rem; border-radius: 3px; flex: none; }
    canvas { display: block; cursor: crosshair; }
    .tip {
      position: absolute; z-index: 4; max-width: 22rem; padding: .35rem .6rem; border-radius: 6px;
      background: var(--ink); color: var(--ground); font-size: .85rem; pointer-events: none;
    }

    @media (max-width: 46rem) {
      body { grid-template: "header" auto "nav" auto "main" 1fr / minmax(0, 1fr); }
      #menu { display: block; flex: none; }
      nav { display: none; position: static; min-height: 0; max-height: none; border: 0; }
      nav.shown { display: block; border-bottom: 1px solid var(--edge); }
      main { padding: 1rem 1rem 3rem; }
      .object th, .object td { display: block; width: auto; padding-bottom: 0; }
      .object td { padding-top: 0; padding-bottom: .5rem; }
      .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
    }
    @media print { header, nav, .bar, .skip { display: none; } body { display: block; } }

    """#
}
