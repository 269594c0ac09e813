extension StorePage {
  /// The map of the file's pages: a canvas that can be pointed at and walked through with the arrow
  /// keys, and tables that say the same.
  static let pageMapScript = #"""
    const darkScheme = matchMedia("(prefers-color-scheme: dark)");
    let shownMap = null;
    darkScheme.addEventListener("change", () => shownMap?.colourBy());

    function pagesView() {
      const pages = data.pages;
      if (!pages) return [heading("Pages"), notice("The pages could not be read.", [], true)];
      shownMap = new PageMap(pages);
      const each = pages.group > 1 ? ` A cell is ${pages.group} pages.` : "";
      return [
        heading("Pages"),
        make("p", { class: "lead" }, `${counted(pages.count, "page")} of ` +
          `${grouped(pages.size)} bytes, from left to right. A cell is filled as far as its page ` +
          `is.${each}`),
        shownMap.element,
        make("h2", {}, "Trees"), treeTable(),
      ];
    }

    function treeTable() {
      return new DataTable({
        caption: "Trees of the file and their pages", rows: data.trees, perPage: 100,
        columns: [
          textColumn("Tree", tree => tree.name),
          textColumn("Content", tree => tree.title ?? ""),
          textColumn("Kind", tree => tree.kind),
          numberColumn("Entries", tree => tree.entries),
          numberColumn("Height", tree => tree.height),
          numberColumn("Pages", tree => tree.pages),
          numberColumn("Bytes", tree => tree.bytes, byteText),
          numberColumn("On disk", tree => tree.fileBytes, byteText),
        ],
      }).element;
    }

    class PageMap {
      constructor(pages) {
        Object.assign(this, { pages, mode: "kind", highlighted: null, index: -1 });
        this.canvas = make("canvas", {
          tabindex: 0, role: "application", "aria-roledescription": "map of pages",
          "aria-label": `Map of ${counted(pages.count, "page")}. Arrow keys go from page to ` +
            "page. The table of trees below has the numbers.",
          on: {
            mousemove: event => this.point(event), mouseleave: () => this.leave(),
            keydown: event => this.walk(event),
            focus: () => this.select(Math.max(0, this.index), true), blur: () => this.leave(),
          },
        });
        this.tip = make("div", { class: "tip", role: "tooltip", hidden: true });
        this.legend = make("ul", { class: "legend", "aria-label": "Legend; press to highlight" });
        const choice = (mode, text) => make("label", {}, make("input", {
          type: "radio", name: "colour", value: mode, checked: mode === this.mode,
          on: { change: () => this.colourBy(mode) },
        }), ` ${text}`);
        this.frame = make("div", {}, this.canvas);
        this.element = make("div", {},
          make("fieldset", { class: "bar" }, make("legend", {}, "Colours by"),
            choice("kind", "kind of page"), choice("tree", "tree")),
          this.frame, this.legend, this.tip);
        this.colourBy("kind");
        new ResizeObserver(() => this.draw()).observe(this.frame);
      }

      // Colours

      colourBy(mode = this.mode) {
        this.mode = mode;
        this.highlighted = null;
        const style = getComputedStyle(document.documentElement);
        this.ground = style.getPropertyValue("--ground").trim();
        this.ink = style.getPropertyValue("--ink").trim();
        this.kindColours = this.pages.kinds.map((_, number) =>
          style.getPropertyValue(`--kind${number}`).trim());
        // The golden angle keeps neighbours apart.
        this.treeColours = data.trees.map((_, number) =>
          `hsl(${Math.round(number * 137.5) % 360} 62% ${darkScheme.matches ? 62 : 45}%)`);
        this.updateLegend();
        this.draw();
      }

      /** The number in the legend: of a kind, or of a tree; pages of no tree count by kind. */
      group(index) {
        const tree = this.pages.tree[index];
        if (this.mode === "tree" && tree >= 0) return `tree ${tree}`;
        return `kind ${this.pages.kind[index]}`;
      }

      colour(group) {
        const [mode, number] = group.split(" ");
        return mode === "tree" ? this.treeColours[number] : this.kindColours[number];
      }

      name(group) {
        const [mode, number] = group.split(" ");
        if (mode === "kind") return this.pages.kinds[number];
        const tree = data.trees[number];
        return tree.title ?? tree.name;
      }

      updateLegend() {
        const counts = new Map();
        this.pages.kind.forEach((_, index) => {
          const group = this.group(index);
          counts.set(group, (counts.get(group) ?? 0) + 1);
        });
        const groups = [...counts.keys()]
          .sort((left, right) => counts.get(right) - counts.get(left));
        this.legend.replaceChildren(...groups.map(group => make("li", {}, make("button", {
          type: "button", "aria-pressed": "false",
          on: { click: event => this.highlight(group, event.currentTarget) },
        }, make("span", { class: "swatch", style: `background: ${this.colour(group)}` }),
          this.name(group), make("span", { class: "quiet" }, grouped(counts.get(group)))))));
      }

      highlight(group, button) {
        const isOn = this.highlighted !== group;
        for (const other of this.legend.querySelectorAll("button")) {
          other.setAttribute("aria-pressed", isOn && other === button);
        }
        this.highlighted = isOn ? group : null;
        this.draw();
      }

      // Drawing

      draw() {
        const width = this.frame.clientWidth;
        if (!width) return;
        const count = this.pages.kind.length;
        const sizes = [40, 32, 26, 22, 18, 15, 12, 10, 8, 6, 5, 4, 3];
        const rows = size => Math.ceil(count / Math.floor(width / size));
        this.cell = sizes.find(size => rows(size) * size <= 480) ?? 3;
        this.columns = Math.floor(width / this.cell);
        const height = rows(this.cell) * this.cell;
        const scale = window.devicePixelRatio || 1;
        this.canvas.width = width * scale;
        this.canvas.height = height * scale;
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        const context = this.canvas.getContext("2d");
        context.scale(scale, scale);
        for (let index = 0; index < count; index += 1) this.drawCell(context, index);
        if (this.index >= 0) {
          const [x, y] = this.corner(this.index);
          context.strokeStyle = this.ink;
          context.lineWidth = 2;
          context.strokeRect(x + 1, y + 1, this.cell - 2, this.cell - 2);
        }
      }

      corner(index) {
        return [index % this.columns * this.cell, Math.floor(index / this.columns) * this.cell];
      }

      drawCell(context, index) {
        const [x, y] = this.corner(index);
        const size = this.cell - (this.cell > 5 ? 2 : this.cell > 3 ? 1 : 0);
        const group = this.group(index);
        const isDim = this.highlighted !== null && this.highlighted !== group;
        const full = size * this.pages.fill[index] / 100;
        context.fillStyle = this.colour(group);
        context.globalAlpha = isDim ? 0.08 : 0.32;
        context.fillRect(x, y, size, size);
        context.globalAlpha = isDim ? 0.16 : 1;
        context.fillRect(x, y + size - full, size, full);
        if (this.pages.kind[index] === this.pages.kinds.length - 1 && size > 5) {
          context.strokeStyle = this.ground;
          context.lineWidth = 2;
          context.beginPath();
          context.moveTo(x + 3, y + 3);
          context.lineTo(x + size - 3, y + size - 3);
          context.moveTo(x + size - 3, y + 3);
          context.lineTo(x + 3, y + size - 3);
          context.stroke();
        }
        context.globalAlpha = 1;
      }

      // Pointing and walking

      /** What is known of a cell, in words. */
      text(index) {
        const pages = this.pages;
        const first = index * pages.group;
        const last = Math.min(first + pages.group, pages.count) - 1;
        const tree = data.trees[pages.tree[index]];
        const kind = pages.kinds[pages.kind[index]];
        const words = [first === last ? `Page ${first}: ${kind}`
          : `Pages ${first} to ${last}, most of them: ${kind}`];
        if (tree) words.push(`tree ${tree.name}${tree.title ? ` (${tree.title})` : ""}`);
        if (tree && kind !== "overflow") words.push(`level ${pages.level[index]}`);
        if (pages.entries[index]) words.push(counted(pages.entries[index], "entry", "entries"));
        words.push(`${pages.fill[index]}% full`, `commit ${pages.commit[index]}`);
        if (pages.fromLog.includes(first)) words.push("from the log");
        for (let page = first; page <= last; page += 1) {
          if (pages.defects[page]) words.push(`damaged: ${pages.defects[page]}`);
        }
        return words.join(", ");
      }

      select(index, isByKey) {
        if (index < 0 || index >= this.pages.kind.length) return;
        this.index = index;
        this.draw();
        const [x, y] = this.corner(index);
        this.tip.textContent = this.text(index);
        this.tip.hidden = false;
        const box = this.canvas.getBoundingClientRect();
        const left = Math.min(x, Math.max(0, box.width - 352));
        this.tip.style.left = `${box.left + window.scrollX + left}px`;
        this.tip.style.top = `${box.top + window.scrollY + y + this.cell + 6}px`;
        if (isByKey) announce(this.tip.textContent);
      }

      leave() {
        this.tip.hidden = true;
        if (document.activeElement !== this.canvas) this.index = -1;
        this.draw();
      }

      point(event) {
        const box = this.canvas.getBoundingClientRect();
        const column = Math.floor((event.clientX - box.left) / this.cell);
        const row = Math.floor((event.clientY - box.top) / this.cell);
        const index = column < this.columns ? row * this.columns + column : -1;
        if (index !== this.index) this.select(index, false);
      }

      walk(event) {
        const last = this.pages.kind.length - 1;
        const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns,
          ArrowDown: this.columns, Home: -this.index, End: last - this.index };
        if (!(event.key in steps)) return;
        event.preventDefault();
        this.select(this.index + steps[event.key], true);
      }
    }

    """#
}
