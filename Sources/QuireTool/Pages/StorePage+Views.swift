extension StorePage {
  /// The views: what the page shows for an address.
  static let viewScript = #"""
    function heading(text, ...rest) {
      return make("h1", { tabindex: -1 }, text, ...rest);
    }

    function notice(text, items = [], isProblem = false) {
      return make("div", { class: isProblem ? "notice problem" : "notice" }, text,
        items.length ? make("ul", {}, items.map(item => make("li", {}, item))) : null);
    }

    function textColumn(title, value) {
      return { title, text: value, key: row => sortKey(value(row), "string"), cell: value };
    }

    function numberColumn(title, value, show = grouped) {
      return { title, isNumber: true, text: row => String(value(row)), key: value,
        cell: row => value(row) === null ? "unknown" : show(value(row)) };
    }

    // The overview

    function overview() {
      const facts = data.facts.map(([name, value]) =>
        make("div", { class: value.length > 26 ? "wide" : null },
          make("dt", {}, name), make("dd", {}, value)));
      return [
        heading(data.name),
        make("p", { class: "lead" }, entities.length
          ? `A store of ${counted(entities.length, "entity", "entities")}, opened read-only.`
          : "A store without objects that could be read."),
        data.problems.length
          ? notice("Not everything in this store is sound. What can be read is shown.",
            data.problems, true) : null,
        data.notes.length ? notice("Worth knowing:", data.notes) : null,
        make("dl", { class: "facts" }, facts),
        entities.length ? [make("h2", {}, "Model"), picture()] : null,
        entities.length ? [make("h2", {}, "Objects and sizes"), sizeTable()] : null,
      ];
    }

    function picture() {
      diagram.hidden = false;
      const frame = make("div", { class: "picture", tabindex: 0, role: "region",
        "aria-label": "Diagram of the model" }, diagram);
      const fit = make("button", { type: "button", "aria-pressed": "false", on: { click: () => {
        const isFitted = frame.classList.toggle("fitted");
        fit.setAttribute("aria-pressed", isFitted);
      } } }, "Fit to width");
      return [make("div", { class: "bar" }, fit,
        make("span", { class: "quiet" }, "Choose an entity to see its objects.")), frame];
    }

    function sizeTable() {
      const rows = entities.filter(entity => !entity.abstract);
      const total = entity => entity.sizes.rows + entity.sizes.links + entity.sizes.indexes;
      const most = Math.max(1, ...rows.map(total));
      return new DataTable({
        caption: "Objects and bytes of each entity", rows, perPage: 100,
        columns: [
          { ...textColumn("Entity", entity => entity.name),
            cell: entity => link(entityAddress(entity), entity.name) },
          numberColumn("Objects", entity => entity.count),
          numberColumn("Rows", entity => entity.sizes.rows, byteText),
          numberColumn("Links", entity => entity.sizes.links, byteText),
          numberColumn("Indexes", entity => entity.sizes.indexes, byteText),
          { title: "Share", text: () => "", key: total, cell: entity => [
            make("span", { class: "share", style: `width: ${7 * total(entity) / most}rem` }),
            make("span", { class: "quiet" }, byteText(total(entity))),
          ] },
        ],
      }).element;
    }

    // The objects of an entity

    function entityView(entity, state) {
      const members = family(entity);
      const rows = members.flatMap(member =>
        member.objects.map(object => ({ entity: member, object })));
      const count = familyCount(entity);
      const table = new DataTable({
        caption: `Objects of ${entity.name}`, rows, noun: ["object", "objects"], canFilter: true,
        columns: objectColumns(entity, members.length > 1), state,
        onChange: (state, isTyping) => remember(entityAddress(entity), state, isTyping),
      });
      const failed = members.filter(member => member.errors.length);
      // Unknown, where objects cannot be listed for a reason that says nothing of their number.
      const isLostKnown = members.every(member => member.lost !== null);
      const leftOut = count === null || !isLostKnown ? 0
        : count - members.reduce((sum, member) => sum + member.lost, 0) - rows.length;
      return [
        heading(entity.name, entity.abstract ? make("span", { class: "badge" }, "abstract") : null),
        make("p", { class: "lead" },
          count === null ? "An unknown number of objects" : counted(count, "object"),
          entity.parent ? [", inherits from ",
            link(entityAddress(entitiesByName.get(entity.parent)), entity.parent)] : null,
          entity.subentities.length ? ", with those of " : null,
          entity.subentities.map((other, index) =>
            [index ? ", " : "", link(entityAddress(other), other.name)])),
        failed.map(member => notice(
          member.lost === 0
            ? `The objects of ${member.name} can be read, but not all of their links and values.`
            : `Not all objects of ${member.name} can be read. ` +
              `${counted(member.objects.length, "object")} of it ` +
              `${member.objects.length === 1 ? "is" : "are"} shown.`, member.errors, true)),
        leftOut > 0
          ? notice(`This page has ${grouped(rows.length)} of ${counted(count, "object")}: ` +
            `${grouped(leftOut)} are left out. quire show --limit N takes more.`)
          : null,
        make("details", {}, make("summary", {}, "Properties"), propertyTable(entity)),
        table.element,
      ];
    }

    function objectColumns(entity, isMixed) {
      const columns = [{
        title: "ID", text: row => `${row.entity.name}/p${row.object[0]}`, key: row => row.object[0],
        cell: row => link(objectAddress(row.entity, row.object[0]),
          isMixed ? `${row.entity.name}/p${row.object[0]}` : `p${row.object[0]}`),
      }];
      // What names an object best comes first.
      const indexes = [...entity.attributes.keys()].sort((left, right) =>
        (right === entity.labelIndexes[0]) - (left === entity.labelIndexes[0]));
      indexes.forEach(index => {
        const attribute = entity.attributes[index];
        const value = row => row.object[1 + index];
        columns.push({
          title: attribute.name, about: attribute.about, isNumber: isNumeric(attribute.type),
          text: row => plain(value(row), attribute.type),
          key: row => sortKey(value(row), attribute.type),
          cell: row => shortValue(value(row), attribute.type),
        });
      });
      entity.relationships.forEach((relationship, index) => {
        const value = row => row.object[1 + row.entity.attributes.length + index];
        columns.push({
          title: relationship.name, about: relationship.about, isNumber: relationship.many,
          text: row => referenceText(value(row)),
          key: row => {
            const found = value(row);
            return found === null ? null : found.n ?? referenceText(found).toLowerCase();
          },
          cell: row => shortReference(value(row)),
        });
      });
      return columns;
    }

    function shortValue(value, type) {
      if (value === null) return make("span", { class: "nil" }, "nil");
      const text = plain(value, type);
      return text.length > 120 ? text.slice(0, 119) + "…" : text;
    }

    function referenceText(value) {
      if (value === null) return "";
      if (!Array.isArray(value)) return value.e ?? String(value.n);
      const entity = entities[value[0]];
      const index = entity?.byKey.get(value[1]);
      const name = `${entity?.name}/p${value[1]}`;
      return index === undefined ? name : label(entity, entity.objects[index]) || name;
    }

    function shortReference(value) {
      if (value === null) return make("span", { class: "nil" }, "nil");
      return Array.isArray(value) ? reference(...value) : referenceText(value);
    }

    function propertyTable(entity) {
      const row = property => make("tr", {}, make("th", { scope: "row" }, property.name),
        make("td", {}, property.about));
      return make("div", { class: "scroll" }, make("table", { class: "object" },
        make("caption", { class: "spoken" }, `Properties of ${entity.name}`),
        make("tbody", {}, entity.attributes.map(row), entity.relationships.map(row))));
    }

    // One object

    function objectView(entity, key) {
      const row = entity.byKey.get(key);
      const name = `${entity.name}/p${key}`;
      if (row === undefined) {
        return [heading(name), notice(`This page does not have ${name}: it may be one of those ` +
          "that were left out, or not be in the store.")];
      }
      const object = entity.objects[row];
      const beside = (text, offset) => {
        const other = entity.objects[row + offset];
        return other ? link(objectAddress(entity, other[0]), text)
          : make("span", { class: "quiet" }, text);
      };
      const attributes = entity.attributes.map((attribute, index) =>
        propertyRow(attribute, attribute.type, fullValue(object[1 + index], attribute.type)));
      const first = 1 + entity.attributes.length;
      const relationships = entity.relationships.map((relationship, index) =>
        propertyRow(relationship, relationship.to,
          fullReferences(object[first + index], relationship.ordered)));
      const text = label(entity, object);
      return [
        heading(text || name),
        make("p", { class: "lead" }, link(entityAddress(entity), entity.name), ` / p${key}`),
        make("div", { class: "bar", role: "group", "aria-label": "Objects beside this one" },
          beside("‹ Previous", -1), beside("Next ›", 1)),
        make("div", { class: "parts" }, section("Attributes", attributes),
          section("Relationships", relationships)),
      ];
    }

    function section(title, rows) {
      if (!rows.length) return null;
      return make("section", {}, make("h2", {}, title), make("div", { class: "scroll" },
        make("table", { class: "object" }, make("caption", { class: "spoken" }, title),
          make("tbody", {}, rows))));
    }

    function propertyRow(property, type, content) {
      return make("tr", {}, make("th", { scope: "row", title: property.about }, property.name, " ",
        make("span", { class: "type" }, type)), make("td", {}, content));
    }

    function fullValue(value, type) {
      if (value === null) return make("span", { class: "nil" }, "nil");
      if (typeof value !== "object") return plain(value, type);
      if ("t" in value) {
        return [value.t, make("span", { class: "quiet" },
          `… (${grouped(value.n)} characters; the page has the first ` +
          `${grouped([...value.t].length)})`)];
      }
      if ("b" in value) {
        const shown = value.h.length / 2;
        const bytes = value.h.replace(/(..)(?=.)/g, "$1 ");
        return [make("span", { class: "quiet" }, `${counted(value.b, "byte")}` +
          (shown < value.b ? `; the page has the first ${shown}` : "") + "\n"),
          make("span", { class: "mono" }, bytes)];
      }
      if ("c" in value) {
        return make("ul", {}, Object.entries(value.c).map(([key, part]) =>
          make("li", {}, `${key}: `, fullValue(part))));
      }
      return make("span", { class: "notice problem" }, value.e);
    }

    function fullReferences(value, isOrdered) {
      if (value === null) return make("span", { class: "nil" }, "nil");
      if (Array.isArray(value)) return reference(...value);
      if ("e" in value) return make("span", { class: "notice problem" }, value.e);
      if (!value.n) return make("span", { class: "nil" }, "none");
      const items = [];
      for (let index = 0; index < value.r.length; index += 2) {
        items.push(make("li", {}, reference(value.r[index], value.r[index + 1])));
      }
      const rest = value.n - items.length;
      return [make(isOrdered ? "ol" : "ul", {}, items),
        rest ? make("p", { class: "quiet" }, `and ${grouped(rest)} more, left out`) : null];
    }

    // Migrations and versions

    function historyView() {
      const rows = data.migrations;
      return [
        heading("Versions and history"),
        make("p", { class: "lead" }, "A store keeps the model that it was last opened with, and " +
          "a record of its last 50 migrations. Earlier models themselves are not kept."),
        make("h2", {}, "Migrations"),
        rows.length ? new DataTable({
          caption: "Migrations of the store", rows,
          columns: [
            textColumn("Date", row => row.date), textColumn("From", row => row.from || "–"),
            textColumn("To", row => row.to || "–"),
            numberColumn("Rows rewritten", row => row.rewrittenObjects),
            numberColumn("Bytes written", row => row.writtenBytes, byteText),
            numberColumn("Milliseconds", row => row.milliseconds),
            textColumn("From checksum", row => row.fromChecksum.slice(0, 12)),
            textColumn("To checksum", row => row.toChecksum.slice(0, 12)),
          ],
        }).element : make("p", {}, "This store records none: it was made with the version it has."),
        make("h2", {}, "Transactions"),
        make("p", {}, data.history
          ? `${counted(data.history.transactions, "transaction")} with ` +
            `${counted(data.history.changes, "change")}` +
            (data.history.since ? `, since ${data.history.since}` : "") +
            `; the last has the number ${data.history.last}. quire dump --history prints them.`
          : "This store keeps no history of saves."),
        data.model ? [
          make("h2", {}, "Model"),
          make("p", {}, `Version ${data.model.version ?? "without a name"}, checksum `,
            make("span", { class: "mono" }, data.model.checksum)),
          new DataTable({
            caption: "Entities and their version hashes", rows: entities, perPage: 100,
            columns: [
              { ...textColumn("Entity", row => row.name),
                cell: row => link(entityAddress(row), row.name) },
              { ...textColumn("Version hash", row => row.hash),
                cell: row => make("span", { class: "mono" }, row.hash) },
            ],
          }).element,
        ] : null,
      ];
    }

    """#
}
