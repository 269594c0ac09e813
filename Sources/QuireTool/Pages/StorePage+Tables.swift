extension StorePage {
  /// Tables with sorting, a filter and pages.
  ///
  /// A column has a `title`, `text(row)` for the filter, `key(row)` for sorting, and `cell(row)`,
  /// which is shown.
  static let tableScript = #"""
    class DataTable {
      constructor({ caption, columns, rows, noun = ["row", "rows"], perPage = 50, canFilter = false,
        state = {}, onChange = () => {} }) {
        Object.assign(this, { caption, columns, rows, noun, perPage, canFilter, state, onChange });
        this.texts = new Map();
        this.body = make("tbody", { on: { keydown: event => this.moveFocus(event) } });
        this.headers = columns.map((column, index) => this.header(column, index));
        const table = make("table", {},
          make("caption", { class: "spoken" }, caption),
          make("thead", {}, make("tr", {}, this.headers)), this.body);
        this.tally = make("span", { class: "quiet" });
        this.pager = make("div", { class: "bar", role: "group",
          "aria-label": "Pages of the table" });
        this.element = make("div", {}, this.toolbar(),
          make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
            table),
          this.pager);
        this.update();
      }

      toolbar() {
        if (!this.canFilter) return [];
        this.field = make("input", {
          type: "search", id: "filter", placeholder: "Filter (press /)", autocomplete: "off",
          "aria-label": `Filter ${this.caption}`, spellcheck: "false",
          on: {
            input: () => this.change({ filter: this.field.value, page: 1 }, true),
            keydown: event => { if (event.key === "ArrowDown") this.focusRow(0, event); },
          },
        });
        this.field.value = this.state.filter ?? "";
        return make("div", { class: "bar", role: "search" }, this.field, this.tally);
      }

      header(column, index) {
        const button = make("button", { type: "button", on: { click: () => this.sort(index) } },
          column.title);
        return make("th", { scope: "col", class: column.isNumber ? "number" : null,
          title: column.about }, button);
      }

      sort(index) {
        const isSame = this.state.sort === this.columns[index].title;
        this.change({ sort: this.columns[index].title, down: isSame && !this.state.down, page: 1 });
        const direction = this.state.down ? "descending" : "ascending";
        announce(`Sorted by ${this.columns[index].title}, ${direction}.`);
      }

      change(state, isTyping = false) {
        Object.assign(this.state, state);
        this.update();
        this.onChange(this.state, isTyping);
        if ("filter" in state) announce(this.tally.textContent);
      }

      text(row) {
        let text = this.texts.get(row);
        if (text === undefined) {
          text = this.columns.map(column => column.text(row)).join("\n").toLowerCase();
          this.texts.set(row, text);
        }
        return text;
      }

      /** The rows that have every word of the filter, in order. */
      chosenRows() {
        const words = (this.state.filter ?? "").toLowerCase().split(/\s+/).filter(Boolean);
        const rows = words.length
          ? this.rows.filter(row => words.every(word => this.text(row).includes(word)))
          : this.rows.slice();
        const column = this.columns.find(column => column.title === this.state.sort);
        if (!column) return rows;
        const sign = this.state.down ? -1 : 1;
        return rows.map(row => [column.key(row), row])
          .sort((left, right) => compareKeys(left[0], right[0], sign))
          .map(pair => pair[1]);
      }

      update() {
        const rows = this.chosenRows();
        const pages = Math.max(1, Math.ceil(rows.length / this.perPage));
        const page = Math.min(Math.max(1, Number(this.state.page) || 1), pages);
        const shown = rows.slice((page - 1) * this.perPage, page * this.perPage);
        this.headers.forEach((header, index) => {
          const isSorted = this.columns[index].title === this.state.sort;
          header.setAttribute("aria-sort",
            isSorted ? (this.state.down ? "descending" : "ascending") : "none");
        });
        this.body.replaceChildren(...shown.map(row => this.line(row)));
        if (!shown.length) {
          this.body.append(make("tr", {},
            make("td", { colspan: this.columns.length, class: "quiet" }, "Nothing to show.")));
        }
        const all = this.rows.length;
        this.tally.textContent = rows.length === all
          ? counted(all, ...this.noun) : `${grouped(rows.length)} of ${counted(all, ...this.noun)}`;
        this.updatePager(page, pages);
      }

      line(row) {
        return make("tr", {}, this.columns.map((column, index) => {
          const cell = column.cell(row);
          const attributes = { class: column.isNumber ? "number" : null };
          if (index === 0) return make("th", { scope: "row", ...attributes }, cell);
          return make("td", { title: typeof cell === "string" ? cell : null, ...attributes }, cell);
        }));
      }

      updatePager(page, pages) {
        this.pager.hidden = pages === 1;
        const turn = (text, target, name) => make("button", {
          type: "button", disabled: target < 1 || target > pages || target === page,
          "aria-label": name, "data-turn": name,
          on: { click: () => {
            this.change({ page: target });
            announce(`Page ${target} of ${pages}.`);
            const same = this.pager.querySelector(`[data-turn="${name}"]:not(:disabled)`);
            (same ?? this.pager.querySelector("button:not(:disabled)")).focus();
          } },
        }, text);
        this.pager.replaceChildren(
          turn("« First", 1, "First page"), turn("‹ Previous", page - 1, "Previous page"),
          make("span", { class: "quiet" }, `Page ${grouped(page)} of ${grouped(pages)}`),
          turn("Next ›", page + 1, "Next page"), turn("Last »", pages, "Last page"));
      }

      // Keys: up and down go from row to row, Home and End to the first and the last.
      moveFocus(event) {
        const rows = [...this.body.rows];
        const index = rows.findIndex(row => row.contains(document.activeElement));
        const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 };
        if (index < 0 || !(event.key in target)) return;
        if (target[event.key] < 0 && this.field) {
          event.preventDefault();
          this.field.focus();
        } else {
          this.focusRow(target[event.key], event);
        }
      }

      focusRow(index, event) {
        const target = this.body.rows[index]?.querySelector("a, button");
        if (!target) return;
        event.preventDefault();
        target.focus();
      }
    }

    """#
}
