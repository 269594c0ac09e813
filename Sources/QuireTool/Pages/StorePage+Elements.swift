extension StorePage {
  /// Makes elements. Texts become text nodes, so that nothing in them is read as HTML.
  static let elementScript = #"""
    const data = JSON.parse(document.getElementById("data").textContent);
    const main = document.getElementById("main");
    const diagram = document.getElementById("diagram");
    const live = document.getElementById("live");
    const inEnglish = new Intl.NumberFormat("en-US");

    /** An element with attributes, listeners under `on`, and children: elements, texts or lists. */
    function make(name, attributes = {}, ...children) {
      const element = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) {
        if (key === "on") {
          for (const [event, listener] of Object.entries(value)) {
            element.addEventListener(event, listener);
          }
        } else if (value === true) {
          element.setAttribute(key, "");
        } else if (value !== false && value !== null && value !== undefined) {
          element.setAttribute(key, value);
        }
      }
      element.append(...children.flat(Infinity).filter(child => child !== null && child !== ""));
      return element;
    }

    function link(address, ...children) {
      return make("a", { href: address }, ...children);
    }

    function grouped(number) {
      return inEnglish.format(number);
    }

    function counted(number, noun, plural = noun + "s") {
      return `${grouped(number)} ${number === 1 ? noun : plural}`;
    }

    function byteText(count) {
      if (count < 1024) return `${count} B`;
      const units = ["KB", "MB", "GB", "TB"];
      let size = count / 1024;
      let unit = 0;
      while (size >= 1000 && unit < units.length - 1) {
        size /= 1024;
        unit += 1;
      }
      return `${size >= 100 ? size.toFixed(0) : size.toFixed(1)} ${units[unit]}`;
    }

    /** Tells a screen reader what has changed. */
    function announce(text) {
      live.textContent = text;
    }

    """#

  /// Entities, objects and values as the page knows them.
  static let valueScript = #"""
    const entities = data.entities;
    const entitiesByName = new Map(entities.map(entity => [entity.name, entity]));
    for (const entity of entities) {
      entity.byKey = new Map(entity.objects.map((object, index) => [object[0], index]));
      entity.subentities = entities.filter(other => other.parent === entity.name);
      entity.labelIndexes = labelIndexes(entity);
    }

    /** The entity and all that inherit from it. */
    function family(entity) {
      return [entity, ...entity.subentities.flatMap(family)];
    }

    /** The objects of an entity and its subentities; `null` if one is not known. */
    function familyCount(entity) {
      const counts = family(entity).map(member => member.count);
      return counts.includes(null) ? null : counts.reduce((sum, count) => sum + count, 0);
    }

    function entityAddress(entity) {
      return `#/entity/${encodeURIComponent(entity.name)}`;
    }

    function objectAddress(entity, key) {
      return `#/object/${encodeURIComponent(entity.name)}/${key}`;
    }

    /** The indexes of up to three attributes that name an object, the best first. */
    function labelIndexes(entity) {
      const names = ["name", "title", "label", "displayname", "subject", "email", "slug"];
      const rank = index => {
        const name = entity.attributes[index].name.toLowerCase();
        if (names.includes(name)) return names.indexOf(name);
        return names.length + (names.some(part => name.includes(part)) ? 0 : 1);
      };
      return [...entity.attributes.keys()]
        .filter(index => entity.attributes[index].type === "string"
          && !/url|path$/i.test(entity.attributes[index].name))
        .sort((left, right) => rank(left) - rank(right)).slice(0, 3);
    }

    function label(entity, object) {
      for (const index of entity.labelIndexes) {
        const text = plain(object[1 + index], "string").trim();
        if (text) return text.length > 60 ? text.slice(0, 59) + "…" : text;
      }
      return "";
    }

    /** A link to an object, or its name where the page does not have it. */
    function reference(number, key) {
      const entity = entities[number];
      if (!entity) return make("span", { class: "quiet" }, `p${key} of an unknown entity`);
      const index = entity.byKey.get(key);
      const name = `${entity.name}/p${key}`;
      if (index === undefined) {
        return make("span", { class: "quiet", title: "The page does not have this object." }, name);
      }
      const text = label(entity, entity.objects[index]);
      return link(objectAddress(entity, key), text || name);
    }

    /** A date of seconds since 2001, in UTC. */
    function dateText(seconds) {
      if (typeof seconds !== "number") return String(seconds);
      const date = new Date((seconds + 978307200) * 1000);
      if (Number.isNaN(date.getTime())) return `${seconds} s since 2001`;
      return date.toISOString().replace("T", " ").replace(".000Z", " UTC").replace("Z", " UTC");
    }

    /** A value of an attribute as one text. */
    function plain(value, type) {
      if (value === null || value === undefined) return "";
      if (type === "date" && typeof value === "number") return dateText(value);
      if (typeof value !== "object") return String(value);
      if ("t" in value) return value.t + "…";
      if ("b" in value) return `${byteText(value.b)} of data`;
      if ("e" in value) return `not readable: ${value.e}`;
      if ("c" in value) {
        return Object.entries(value.c).map(([key, part]) => `${key}: ${plain(part)}`).join(", ");
      }
      return "";
    }

    /** A value that is sorted by: a number, or a text. */
    function sortKey(value, type) {
      if (value === null || value === undefined) return null;
      if (typeof value === "number" || typeof value === "boolean") return Number(value);
      if (typeof value === "object" && "b" in value) return value.b;
      if (isNumeric(type) && !Number.isNaN(Number(value))) return Number(value);
      return plain(value, type).toLowerCase();
    }

    function isNumeric(type) {
      return /^(integer|decimal|double|float)/.test(type);
    }

    /** Absent values come last in either direction. */
    function compareKeys(left, right, sign) {
      if (left === null || right === null) return (left === null) - (right === null);
      if (typeof left !== typeof right) return typeof left === "number" ? -sign : sign;
      return left < right ? -sign : left > right ? sign : 0;
    }

    """#
}
