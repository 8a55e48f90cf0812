/* What a reader has answered and read. It stays on the device, in local storage; where there is
   none, it lasts until the page is left. The contents show it, and a button clears it.

   window.mhaProgress is what the other scripts use. */
(function () {
  "use strict";
  const KEY = "attention-by-hand.progress";
  const VERSION = 1;
  const QUESTIONS = "mha-your-turn[id], mha-quiz[id]";
  const strings = window.mhaStrings.progress;
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  let withoutStorage = null; // the record where there is no storage

  /** Return a text with its {names} filled in. */
  function fill(template, values) {
    return template.replace(/\{(\w+)\}/g, function (whole, name) {
      return name in values ? values[name] : whole;
    });
  }

  function empty() {
    return { version: VERSION, pages: {} };
  }

  /** Return the record, an empty one if what is stored cannot be used. */
  function load() {
    if (withoutStorage) {
      return withoutStorage;
    }
    try {
      const record = JSON.parse(localStorage.getItem(KEY));
      const usable = record && record.version === VERSION && isPlain(record.pages);
      return usable ? record : empty();
    } catch (error) {
      return empty();
    }
  }

  function isPlain(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }

  function save(record) {
    try {
      localStorage.setItem(KEY, JSON.stringify(record));
    } catch (error) {
      withoutStorage = record;
    }
  }

  /** Return an address's page as its path below the book's root. */
  function pageOf(address) {
    const path = new URL(address, location.href).pathname;
    const inside = path.startsWith(root.pathname) ? path.slice(root.pathname.length) : path;
    return inside === "" || inside.endsWith("/") ? inside + "index.html" : inside;
  }

  /** Return a page's entry with every part in place, whatever was stored. */
  function entryOf(record, page) {
    const stored = isPlain(record.pages[page]) ? record.pages[page] : {};
    return {
      total: stored.total > 0 ? stored.total : 0,
      right: Array.isArray(stored.right) ? stored.right : [],
      steps: stored.steps > 0 ? stored.steps : 0,
      read: Array.isArray(stored.read) ? stored.read : [],
      last: stored.last > 0 ? stored.last : 0,
    };
  }

  function here() {
    return entryOf(load(), pageOf(location.href));
  }

  /** Change this page's entry and show what has changed. */
  function change(alter) {
    const record = load();
    const page = pageOf(location.href);
    const entry = entryOf(record, page);
    alter(entry);
    record.pages[page] = entry;
    save(record);
    showAll();
  }

  function add(list, item) {
    if (!list.includes(item)) {
      list.push(item);
    }
  }

  function questions() {
    return Array.from(document.querySelectorAll(QUESTIONS), function (box) { return box.id; });
  }

  /** Forget answers to questions that this page no longer has. */
  function registerQuestions() {
    const ids = questions();
    const entry = here();
    const right = entry.right.filter(function (id) { return ids.includes(id); });
    const isOld = right.length !== entry.right.length || ids.length !== entry.total;
    if (entry.right.length > 0 && isOld) {
      change(function (now) {
        now.total = ids.length;
        now.right = right;
      });
    }
  }

  /* ---- In the contents ---- */

  function links() {
    return document.querySelectorAll("nav.bd-links a.reference.internal");
  }

  function showAll() {
    const record = load();
    links().forEach(function (link) {
      show(link, entryOf(record, pageOf(link.href)));
    });
    showClear(Object.keys(record.pages).some(function (page) {
      const entry = entryOf(record, page);
      return entry.right.length > 0 || entry.read.length > 0;
    }));
  }

  /** Show a page's progress beside its link. */
  function show(link, entry) {
    const old = link.parentElement.querySelector(":scope > .progress-badge");
    if (old) {
      old.remove();
    }
    const seen = [];
    const said = [];
    if (entry.right.length > 0) {
      const values = { done: entry.right.length, total: entry.total };
      seen.push(fill(strings.questions, values));
      said.push(fill(strings.questionsInWords, values));
    }
    if (entry.read.length > 0) {
      const values = { done: entry.read.length, total: entry.steps };
      seen.push(fill(strings.steps, values));
      said.push(fill(strings.stepsInWords, values));
    }
    if (seen.length > 0) {
      link.after(badge(seen, said.join(", ")));
    }
  }

  function badge(seen, said) {
    const box = document.createElement("span");
    box.className = "progress-badge";
    seen.forEach(function (text) { box.append(piece("progress-line", text, true)); });
    box.append(piece("reading-unseen", said, false));
    return box;
  }

  function piece(name, text, forEyesOnly) {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    if (forEyesOnly) {
      span.setAttribute("aria-hidden", "true");
    }
    return span;
  }

  /* ---- Clearing ---- */

  const foot = document.createElement("section");

  function button(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "reading-button";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  }

  const clear = button(strings.clear, function () { ask(true); });
  const question = document.createElement("div");
  const status = document.createElement("p");
  const keep = button(strings.no, function () { ask(false); });

  function ask(asked) {
    status.textContent = "";
    clear.hidden = asked;
    question.hidden = !asked;
    (asked ? keep : clear).focus();
  }

  function clearAll() {
    withoutStorage = withoutStorage && empty();
    try {
      localStorage.removeItem(KEY);
    } catch (error) {
      withoutStorage = empty();
    }
    question.hidden = true;
    status.textContent = strings.cleared;
    status.focus();
    showAll();
    document.dispatchEvent(new Event("mha-progress-cleared"));
  }

  function showClear(hasProgress) {
    clear.hidden = !hasProgress || !question.hidden;
    foot.hidden = !hasProgress && status.textContent === "";
  }

  function buildFoot() {
    const sidebar = document.querySelector(".bd-sidebar-primary .sidebar-primary-items__end");
    foot.className = "sidebar-primary-item progress-foot";
    foot.setAttribute("aria-label", strings.region);
    foot.hidden = true;
    question.hidden = true;
    question.className = "progress-question";
    question.setAttribute("role", "group");
    question.setAttribute("aria-label", strings.confirm);
    const asked = document.createElement("p");
    asked.textContent = strings.confirm;
    question.append(asked, button(strings.yes, clearAll), keep);
    question.addEventListener("keydown", function (event) {
      if (event.key === "Escape") {
        ask(false);
      }
    });
    status.setAttribute("role", "status");
    status.tabIndex = -1;
    foot.append(clear, question, status);
    if (sidebar) {
      sidebar.prepend(foot);
    }
  }

  window.mhaProgress = {
    fill: fill,
    /** Tell whether a question of this page was answered. */
    isRight: function (id) { return here().right.includes(id); },
    /** Remember that a question of this page was answered. */
    setRight: function (id) {
      change(function (entry) {
        entry.total = questions().length;
        add(entry.right, id);
      });
    },
    /** Remember that a step of this page was opened; the number counts from 1. */
    setRead: function (step, total) {
      change(function (entry) {
        entry.read = entry.read.filter(function (other) { return other <= total; });
        entry.steps = total;
        entry.last = step;
        add(entry.read, step);
      });
    },
    /** Return the step of this page that was opened last, or 0. */
    lastStep: function () { return here().last; },
  };

  buildFoot();
  registerQuestions();
  showAll();
  window.addEventListener("storage", function (event) {
    if (event.key === KEY || event.key === null) {
      showAll();
    }
  });
})();
