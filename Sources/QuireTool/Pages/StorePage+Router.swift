extension StorePage {
  /// Shows the view of the address, and keeps the list of contents.
  ///
  /// Addresses are fragments, so that the browser's back and forward work without a server: `#/`,
  /// `#/entity/NAME?sort=…`, `#/object/NAME/KEY`, `#/pages`, `#/history`.
  static let routerScript = #"""
    const nav = document.getElementById("nav");
    const menu = document.getElementById("menu");

    function decoded(text) {
      try {
        return decodeURIComponent(text);
      } catch {
        return text;
      }
    }

    /** The parts of the address, and what follows a question mark. */
    function route() {
      const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
      const state = Object.fromEntries(new URLSearchParams(query));
      if ("down" in state) state.down = state.down === "1";
      return { parts: path.split("/").filter(Boolean).map(decoded), state };
    }

    /** Puts the state of a table into the address. Typing makes no step to go back to. */
    function remember(address, state, isTyping) {
      const query = new URLSearchParams();
      if (state.sort) query.set("sort", state.sort);
      if (state.sort && state.down) query.set("down", "1");
      if (state.filter) query.set("filter", state.filter);
      if (Number(state.page) > 1) query.set("page", state.page);
      const text = query.toString();
      const target = text ? `${address}?${text}` : address;
      if (target === location.hash) return;
      if (isTyping) history.replaceState(null, "", target);
      else history.pushState(null, "", target);
    }

    function view({ parts, state }) {
      const [kind, name, key] = parts;
      if (kind === undefined) return ["Overview", overview()];
      if (kind === "pages") return ["Pages", pagesView()];
      if (kind === "history") return ["Versions and history", historyView()];
      const entity = entitiesByName.get(name);
      if (entity && kind === "entity") return [entity.name, entityView(entity, state)];
      if (entity && kind === "object") {
        // Also as results and URIs have it, with a p.
        const number = Number(String(key).replace(/^p/, ""));
        return [`${entity.name}/p${number}`, objectView(entity, number)];
      }
      return ["Not found", [heading("There is nothing here"),
        make("p", {}, "The address is of nothing in this store. ",
          link("#/", "To the overview"))]];
    }

    function item(address, text, count, className) {
      return make("li", {}, link(address, make("span", { class: className }, text),
        typeof count !== "number" ? null : make("span", { class: "count" }, grouped(count))));
    }

    function entityItems(parent, depth) {
      return entities.filter(entity => entity.parent === parent).flatMap(entity => {
        const classes = [entity.abstract ? "abstract" : "", entity.errors.length ? "failed" : ""];
        const entry = item(entityAddress(entity), entity.name, familyCount(entity),
          classes.join(" ").trim() || null);
        entry.style.paddingLeft = `${depth * 0.9}rem`;
        return [entry, ...entityItems(entity.name, depth + 1)];
      });
    }

    function fillContents() {
      nav.append(
        make("ul", {}, item("#/", "Overview"), item("#/pages", "Pages", data.pages?.count),
          item("#/history", "Versions and history")));
      if (entities.length) {
        nav.append(make("h2", {}, "Entities"), make("ul", {}, entityItems(null, 0)));
      }
    }

    function showView(isFirst) {
      diagram.hidden = true;
      document.body.append(diagram);
      const [title, content] = view(route());
      main.replaceChildren(...content.flat(Infinity).filter(Boolean));
      document.title = `${title} – ${data.name}`;
      const address = location.hash.split("?")[0] || "#/";
      const entity = address.replace(/^#\/object\/([^/]*).*$/, "#/entity/$1");
      for (const entry of nav.querySelectorAll("a")) {
        const isCurrent = entry.getAttribute("href") === entity;
        if (isCurrent) entry.setAttribute("aria-current", "page");
        else entry.removeAttribute("aria-current");
      }
      showContents(false);
      if (!isFirst) moveToContent();
    }

    // Where the reader was when following a link, by the address of the view that was left.
    const left = new Map();
    let isFollowing = false;

    /** A view begins at its heading. One that is gone back to begins where it was left. */
    function moveToContent() {
      const position = isFollowing ? undefined : left.get(location.hash);
      isFollowing = false;
      const followed = [...main.querySelectorAll("a")]
        .find(other => other.getAttribute("href") === position?.address);
      window.scrollTo(0, position?.top ?? 0);
      (followed ?? main.querySelector("h1"))?.focus({ preventScroll: true });
    }

    function showContents(isShown) {
      nav.classList.toggle("shown", isShown);
      menu.setAttribute("aria-expanded", isShown);
    }

    document.addEventListener("click", event => {
      const address = event.target.closest?.("a[href^='#']")?.getAttribute("href");
      if (!address || address === location.hash) return;
      left.set(location.hash, { top: window.scrollY, address });
      isFollowing = true;
    });
    menu.addEventListener("click", () => showContents(!nav.classList.contains("shown")));
    window.addEventListener("hashchange", () => showView(false));
    document.addEventListener("keydown", event => {
      const field = document.getElementById("filter");
      const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
      if (event.key === "/" && field && !isTyping && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        field.focus();
        field.select();
      }
    });
    fillContents();
    showView(true);

    """#
}
