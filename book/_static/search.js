/* The dialog that searches the book. Its index and the library come when it is first opened. */
(function () {
  "use strict";
  const SCRIPTS = ["minisearch.js", "search-index.js", "search-engine.js"]; // each needs those before
  const STRINGS = {
    loading: "The search is being loaded …",
    failed: "The search could not be loaded.",
    none: "No section found. Try fewer or other words.",
    one: "1 section found",
    many: "{count} sections found",
    most: "The {count} best sections",
  };
  const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("search-dialog"));
  if (!dialog) {
    return;
  }
  const input = /** @type {HTMLInputElement} */ (dialog.querySelector(".search-input"));
  const list = /** @type {HTMLElement} */ (dialog.querySelector(".search-results"));
  const status = /** @type {HTMLElement} */ (dialog.querySelector(".search-status"));
  const root = document.documentElement.dataset.content_root ?? "./";
  /** @type {Promise<void> | null} */
  let loading = null;
  /** @type {HTMLElement | null} */
  let opener = null;
  let active = -1;

  /* ---- Loading ---- */

  /** @param {string} name */
  function load(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}_static/${name}`;
      script.addEventListener("load", resolve);
      script.addEventListener("error", reject);
      document.head.append(script);
    });
  }

  async function loadAll() {
    for (const name of SCRIPTS) {
      await load(name);
    }
  }

  /* ---- Results ---- */

  function options() {
    return /** @type {HTMLAnchorElement[]} */ ([...list.children]);
  }

  /* The index writes an index of a formula as in d₍k₎, an exponent as in W⁽O⁾. */
  /** @type {Record<string, string>} */
  const SCRIPTS_OF_FORMULAS = { "₍": "sub", "⁽": "sup" };

  /**
   * Return a line of found words and others; indices and exponents, which may begin in one piece
   * and end in another, are set lower and higher.
   * @param {string} name
   * @param {Pieces} pieces
   */
  function line(name, pieces) {
    const box = document.createElement("span");
    box.className = name;
    let scripts = /** @type {string[]} */ ([]);
    for (const { text, found } of pieces) {
      for (const part of text.split(/([₍⁽₎⁾])/)) {
        if (part in SCRIPTS_OF_FORMULAS) {
          scripts.push(SCRIPTS_OF_FORMULAS[part]);
        } else if (/[₎⁾]/.test(part)) {
          scripts = scripts.slice(0, -1);
        } else if (part) {
          box.append(within([found ? "mark" : "span", ...scripts], part));
        }
      }
    }
    return box;
  }

  /**
   * @param {string[]} names of elements, each inside the one before
   * @param {string} text
   * @returns {Node}
   */
  function within([outer, ...inner], text) {
    const element = document.createElement(outer);
    element.append(inner.length > 0 ? within(inner, text) : text);
    return element;
  }

  /**
   * @param {FoundSection} found
   * @param {number} place
   */
  function option(found, place) {
    const link = document.createElement("a");
    link.id = `search-result-${place}`;
    link.className = "search-result";
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.tabIndex = -1;
    link.href = root + found.address;
    const chapter = line("search-chapter", [{ text: found.chapter, found: false }]);
    link.append(
      line("search-heading", found.heading), " ", chapter, " ",
      line("search-excerpt", found.excerpt),
    );
    return link;
  }

  /** @param {number} place */
  function choose(place) {
    const all = options();
    active = all.length === 0 ? -1 : (place + all.length) % all.length;
    all.forEach((link, i) => link.setAttribute("aria-selected", String(i === active)));
    if (active < 0) {
      input.removeAttribute("aria-activedescendant");
    } else {
      input.setAttribute("aria-activedescendant", all[active].id);
      all[active].scrollIntoView({ block: "nearest" });
    }
  }

  function show() {
    const asked = input.value.trim() !== "";
    const found = asked ? window.mhaSearch.find(input.value) : [];
    list.replaceChildren(...found.map(option));
    list.hidden = found.length === 0;
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    choose(found.length > 0 ? 0 : -1);
    status.textContent = asked ? said(found.length) : "";
  }

  /** @param {number} count */
  function said(count) {
    const { none, one, many, most } = STRINGS;
    const template = count === 0 ? none : count === 1 ? one : count === 10 ? most : many;
    return template.replace("{count}", String(count));
  }

  /* ---- Opening and closing ---- */

  async function open() {
    if (!dialog || dialog.open) {
      return;
    }
    opener = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.showModal();
    input.focus();
    input.select();
    if (!window.mhaSearch) {
      status.textContent = STRINGS.loading;
    }
    loading ??= loadAll();
    try {
      await loading;
    } catch {
      loading = null;
      status.textContent = STRINGS.failed;
      return;
    }
    show();
  }

  /** @param {KeyboardEvent} event */
  function isTyping(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }

  /** @param {KeyboardEvent} event */
  function onShortcut(event) {
    const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if ((control && event.key.toLowerCase() === "k") || (slash && !isTyping(event))) {
      event.preventDefault();
      open();
    }
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(active + step);
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      options()[active]?.click();
    }
  }

  document.addEventListener("keydown", onShortcut);
  document.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest(".search-open")) {
      open();
    }
  });
  input.addEventListener("keydown", onKey);
  input.addEventListener("input", () => {
    if (window.mhaSearch) {
      show();
    }
  });
  list.addEventListener("click", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (plain && /** @type {Element} */ (event.target).closest("a")) {
      opener = null; // the reader goes on at the section
      dialog.close();
    }
  });
  dialog.addEventListener("click", (event) => {
    const onBackdrop = event.target === dialog;
    if (onBackdrop || /** @type {Element} */ (event.target).closest(".search-close")) {
      dialog.close();
    }
  });
  dialog.addEventListener("close", () => opener?.focus({ preventScroll: true }));

  /* ---- The page of the search, whose address may come with a question ---- */

  const question = new URLSearchParams(location.search).get("q");
  if (question && document.querySelector("[data-search-page]")) {
    input.value = question;
    open();
  }
})();
