/* The explorer's building blocks: elements, fields for numbers, texts with words filled in.
   What the explorer's scripts share hangs on one name, window.mhaExplorer. */
(function () {
  "use strict";

  const { full, short, shown } = window.mhaNumbers;
  const { MOST, entered } = window.mhaTyped;
  const texts = window.mhaStrings.explorer;

  /** How much a step changes a number. */
  const STEP = 0.1;

  /**
   * A text with the words in its braces filled in.
   * @param {string} text
   * @param {Record<string, any>} words
   * @returns {string}
   */
  const fill = (text, words) => text.replace(/\{(\w+)\}/g, (_, word) => words[word]);

  /** So much of a word that is repeated to a reader is enough. */
  const NAMED = 20;

  /** A word, or the beginning of one that is long. @type {(word: string) => string} */
  const beginning = (word) => ([...word].length > NAMED ? `${[...word].slice(0, NAMED).join("")}…` : word);

  /** From this size on a number is too long for its place; the panel has it in full. */
  const LONG = 1e15;

  /** A number with an exponent. @type {(value: number, places: number) => string} */
  const scientific = (value, places) =>
    value.toExponential(places).replaceAll("-", "−").replace(/\.?0*e\+?/, "e");

  /** A number as the book writes it, with an exponent where that would not fit.
      @param {number} value
      @param {boolean} given an input, which has no trailing zeros
      @param {{ places?: number }} [room]
      @returns {string} */
  function fitting(value, given, { places = 4 } = {}) {
    const isLong = Math.abs(value) >= LONG && Number.isFinite(value);
    if (isLong) return scientific(value, 2);
    return given ? short(value, places) : shown(value, places);
  }

  /** What a source prints for a number, each print with whether it agrees.
      @type {(found: [string, boolean][]) => string} */
  const printed = (found) =>
    found.map(([text, agrees]) => `${agrees ? "≈" : "≠"} ${text.replaceAll("-", "−")}`).join(", ");

  /** @type {WeakMap<Element, string>} */
  const written = new WeakMap();

  /**
   * Write a text into an element where it is not there yet.
   * @param {Element} element
   * @param {string} text
   */
  function setText(element, text) {
    if (written.get(element) === text) return;
    written.set(element, text);
    const { firstChild } = element;
    // A text that stays costs far less layout than one that takes another's place.
    if (firstChild instanceof Text && !firstChild.nextSibling) firstChild.data = text;
    else element.textContent = text;
  }

  /** A sentence, in which words between stars are italic.
      @type {(text: string) => (Node | string)[]} */
  const inItalics = (text) => text.split("*").map((part, i) => (i % 2 ? make("i", {}, part) : part));

  /** What is less is of rounding, and what is not written with four decimals. */
  const TINY = 1e-12;
  const LEAST = 0.00005;

  /** How far a change has moved a query's weights and what they give, at most, in one sentence.
      @param {number} weights @param {number} outcome
      @param {{ token: string, end: string, head?: string, endHead?: string, what?: string }} words in
        which head each moves most, where there are several */
  function effectOf(weights, outcome, { head, endHead, what = "", ...words }) {
    const said = (/** @type {number} */ by, /** @type {string | undefined} */ where) =>
      (by < LEAST ? texts.lessThan
        : fill(texts.upTo, { most: shown(by) }) + (where ? fill(texts.inHead, { head: where }) : ""));
    const kind = weights > TINY ? outcome > TINY ? "both" : "weights" : outcome > TINY ? "outcome" : "none";
    return fill(texts.effect[kind], { ...words, what, outcome: said(outcome, endHead),
      weights: said(weights, head) }).trim();
  }

  /** @type {WeakMap<Element, Record<string, string>>} */
  const marked = new WeakMap();

  /**
   * Set an attribute, or with a dot before its name a property of the style, where it is not set
   * yet: telling the page what it has costs time in every frame.
   * @param {any} element
   * @param {string} name
   * @param {string | number} value
   */
  function set(element, name, value) {
    const text = String(value);
    const known = marked.get(element) ?? {};
    if (known[name] === text) return;
    known[name] = text;
    marked.set(element, known);
    if (name.startsWith(".")) element.style[name.slice(1)] = text;
    else element.setAttribute(name, text);
  }

  /** How strongly a weight is drawn. A property of its own that style sheets compute with would
      have every style of the element worked out anew; opacity is taken over as it is.
      @type {(weight: number) => number} */
  const strength = (weight) => Number((0.4 + 0.6 * weight).toFixed(3));

  /** A bar as long as its weight, of the weight that takes all its room: lying and as strong, or
      upright and small.
      @type {(bar: any, weight: number, how?: { upright?: boolean, of?: number }) => void} */
  function setBar(bar, weight, { upright = false, of = 1 } = {}) {
    const length = `${Number((100 * weight / of).toFixed(2))}%`;
    set(bar, ".backgroundSize", upright ? `100% ${length}` : `${length} 100%`);
    if (!upright) set(bar, ".opacity", strength(weight));
  }

  /**
   * An element with properties, attributes (names with a hyphen, and role) and children.
   * @param {string} tag
   * @param {Record<string, any>} [properties]
   * @param {...(Node | string)} children
   * @returns {any}
   */
  function make(tag, properties = {}, ...children) {
    /** @type {any} */
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.includes("-") || name === "role") element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children);
    return element;
  }

  /** @type {(label: string, onclick: () => void, properties?: Record<string, any>) => any} */
  const makeButton = (label, onclick, properties = {}) =>
    make("button", { type: "button", onclick, ...properties }, label);

  /** Switch a button off or on. One that has the focus, as its last step has been undone, hands it to the
      next that is on: a keyboard stays in its instrument.
      @param {any} button @param {boolean} isOff */
  function setOff(button, isOff) {
    const hadFocus = isOff && document.activeElement === button;
    button.disabled = isOff;
    if (!hadFocus) return;
    queueMicrotask(() => { // by then all stand as they are to be
      const all = [...button.parentElement.querySelectorAll("button, select")];
      const at = all.indexOf(button);
      [...all.slice(at + 1), ...all.slice(0, at).reverse()].find((one) => !one.disabled && one.offsetParent)
        ?.focus({ preventScroll: true });
    });
  }

  /** The caption of a figure is of what it shows at first; once a reader has changed that, it says so. So do
      words and tables of the page that speak of what an instrument shows: their class has its name.
      @param {Element} node in the figure @param {boolean} isChanged
      @param {boolean} [isOther] whether what the page says of it is of other numbers */
  function markCaption(node, isChanged, isOther = isChanged) {
    /** @type {(of: Element | null | undefined, isOn: boolean, text: string) => void} */
    const mark = (of, isOn, text) => {
      const found = of?.querySelector(":scope > .as-at-first");
      if (!isOn) found?.remove();
      else if (!found) of?.append(make("span", { className: "as-at-first" }, text));
    };
    const caption = node.closest("figure")?.querySelector(".caption-text");
    // One whose own numbers follow says what is true now.
    mark(caption, isChanged && !caption?.querySelector("data[data-of]"), texts.asAtFirst);
    document.querySelectorAll(`.tag_of-${node.closest("mha-instrument")?.id}`).forEach((one) =>
      mark(one.querySelector(".caption-text") ?? one, isOther, texts.own));
  }

  /** Whether there is an address to share: a frame in a notebook has none. */
  const isPage = location.protocol !== "about:";

  /** Where the scripts stand. */
  const folder = (document.currentScript?.getAttribute("src") ?? "").replace(/[^/]*$/, "");

  /** @type {Record<string, Promise<void>>} */
  const coming = {};

  /**
   * Load a script or a style sheet that stands beside this script, once, when what it makes is asked
   * for. A page that has nothing beside it holds the script as text, and the style.
   * @param {string} name
   * @returns {Promise<void>}
   */
  function later(name) {
    coming[name] ??= new Promise((loaded, failed) => {
      const held = document.getElementById(name);
      const onload = () => loaded();
      if (!name.endsWith(".css")) {
        document.head.append(make("script", held ? { text: held.textContent }
          : { src: folder + name, onerror: failed, onload }));
      } else if (!held) {
        // Without its style it is of use too.
        document.head.append(make("link", { rel: "stylesheet", href: folder + name, onerror: onload, onload }));
      }
      if (held) loaded();
    });
    return coming[name];
  }

  let made = 0;
  const freshId = () => `explorer-${(made += 1)}`;

  /**
   * @param {string} title
   * @param {...(Node | string)} children
   * @returns {HTMLFieldSetElement}
   */
  function makeGroup(title, ...children) {
    return make("fieldset", {}, make("legend", {}, title), ...children);
  }

  /**
   * @param {"radio" | "checkbox"} type
   * @param {string} name of the group
   * @param {string} label
   * @param {(on: boolean) => void} onchange
   */
  function makeChoice(type, name, label, onchange) {
    const input = make("input", { type, name, onchange: () => onchange(input.checked) });
    const word = make("span", {}, label);
    return { input, word, node: make("label", { className: "choice" }, input, word) };
  }

  /** An input for a number, and the sentence beside it that says what is wrong. */
  function makeEntry() {
    const error = make("span", { className: "error", role: "alert", id: freshId() });
    const input = make("input", {
      type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
      "aria-describedby": error.id,
    });
    /** @param {string} sentence */
    const complain = (sentence) => {
      error.textContent = sentence;
      if (sentence) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    };
    return { input, error, complain };
  }

  /**
   * A field for a number.
   * @param {string} label
   * @param {(value: number) => string} apply takes a number, returns what is wrong with it, or ""
   * @param {Wanted} [wanted] which numbers the field takes
   * @param {() => void} [takeBack] undoes what `apply` did with the beginning of a text that is refused
   * @returns {NumberField}
   */
  function makeField(label, apply, wanted, takeBack = () => {}) {
    const { input, error, complain } = makeEntry();
    let isRefused = false;
    const enter = () => {
      const { value, wrong } = entered(input.value, wanted);
      if (wrong) {
        isRefused = true;
        takeBack();
      }
      isRefused = false;
      complain(wrong || fill(apply(value), { text: input.value.trim() }));
    };
    input.addEventListener("input", enter);
    /** @param {number} by */
    const step = (by) => {
      const { value, wrong } = entered(input.value, wanted);
      if (wrong) return;
      input.value = full(stepped(value, by, wanted?.most));
      enter();
    };
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = event.key === "ArrowUp" ? STEP : event.key === "ArrowDown" ? -STEP : 0;
      if (by) { event.preventDefault(); step(by); }
    });
    const name = make("label", {}, label, " ", input);
    return {
      input, step, node: make("span", { className: "field" }, name, error),
      /** @param {number} value */
      set: (value) => {
        if (isRefused) return; // the text that is refused stays, so that it can be mended
        if (document.activeElement === input && entered(input.value, wanted).value === value) return;
        input.value = full(value);
        complain("");
      },
    };
  }

  /** A number that is moved by a step: without the dust of binary fractions, and no further than a field
      takes it. @type {(value: number, by: number, most?: number) => number} */
  const stepped = (value, by, most = MOST) =>
    Math.max(-most, Math.min(most, Number((value + by).toFixed(10))));

  /**
   * The sentence that stands below a field whose text is refused, one for all fields of a figure.
   * @param {HTMLElement} figure that the fields are in
   * @returns {Complaint}
   */
  function makeComplaint(figure) {
    const node = make("span", { className: "field-error", role: "alert", id: freshId() });
    /** @type {HTMLElement | null} */
    let about = null;
    figure.append(node);
    const clear = () => {
      setText(node, "");
      about?.removeAttribute("aria-describedby");
      about?.removeAttribute("aria-invalid");
      about = null;
    };
    // It stays until a reader does something else; going on by Tab alone takes nothing away.
    addEventListener("pointerdown", ({ target }) => {
      if (target !== about && /** @type {Element} */ (target).closest("button, input, select, summary, label, a")) clear();
    }, true);
    addEventListener("keydown", ({ key, target }) => {
      if (target !== about && !["Tab", "Shift"].includes(key)) clear();
    }, true);
    const say = (/** @type {HTMLElement} */ field, /** @type {string} */ sentence) => {
      clear();
      if (!sentence) return;
      about = field;
      setText(node, sentence);
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", node.id);
      const [at, around] = [field, figure].map((one) => one.getBoundingClientRect());
      const room = Math.min(around.width, document.documentElement.clientWidth - around.left) - node.offsetWidth;
      set(node, ".left", `${Math.max(0, Math.min(at.left - around.left, room))}px`);
      set(node, ".top", `${at.bottom - around.top + 4}px`);
    };
    return { say, clear };
  }

  /** Counts the edits of a reader: one that is typed lasts until the field is left, or its whole text is
      replaced; one that is dragged until the hand lets go; a key makes one each time that it is pressed. */
  let edits = 0;
  const editNow = () => edits;

  /** The keys that move a number, or end what is typed. */
  const KEYS = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Enter", "Escape", "Tab"];

  const isText = (/** @type {EventTarget | null} */ target) =>
    (target instanceof HTMLInputElement && target.type === "text") || target instanceof HTMLTextAreaElement;
  const newEdit = () => { edits += 1; };
  ["pointerdown", "pointerup", "focusin", "change"].forEach((name) => addEventListener(name, newEdit, true));
  addEventListener("keydown", ({ key, repeat, target }) => {
    if (!repeat && (KEYS.includes(key) || !isText(target))) newEdit();
  }, true);
  addEventListener("beforeinput", ({ target }) => {
    if (!isText(target)) return;
    const { selectionEnd, selectionStart, value } = /** @type {HTMLInputElement} */ (target);
    if (value && selectionStart === 0 && selectionEnd === value.length) newEdit();
  }, true);

  /** How far a hand has gone that drags a number: to the right, with a mouse up as well; a finger that
      goes up moves the page.
      @type {(from: PointerEvent, to: PointerEvent) => number} */
  const gone = (from, to) => to.clientX - from.clientX
    + (from.pointerType === "mouse" ? from.clientY - to.clientY : 0);

  /** Where a slider stood before a finger came down on it: one that goes up or down moves the page, and
      the slider goes back. */
  let before = "";
  addEventListener("pointerdown", ({ target }) => {
    if (target instanceof HTMLInputElement) before = target.value;
  }, true);
  addEventListener("pointercancel", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
    target.value = before;
    ["input", "change"].forEach((name) => target.dispatchEvent(new Event(name, { bubbles: true })));
    newEdit();
  }, true);

  /** How far from the screen something follows a change at once, and how much later the rest does. */
  const NEAR = "10% 0%";
  const LATER_MS = 250;

  /**
   * What draws an element at once where it is near the screen; where it is not, when it comes near,
   * has the focus or is printed, or a little later.
   * @param {Element} node
   * @param {() => void} draw
   * @returns {(isAsked?: boolean) => void}
   */
  function nearFirst(node, draw) {
    let isNear = true;
    /** @type {any} */
    let late = null;
    const now = () => {
      clearTimeout(late);
      late = null;
      draw();
    };
    const catchUp = () => { if (late) now(); };
    new IntersectionObserver((entries) => {
      isNear = entries[entries.length - 1].isIntersecting;
      if (isNear) catchUp();
    }, { rootMargin: NEAR }).observe(node);
    node.addEventListener("focusin", catchUp, true);
    addEventListener("beforeprint", catchUp);
    return (isAsked = isNear) => {
      if (isAsked) {
        now();
        return;
      }
      clearTimeout(late);
      late = setTimeout(now, LATER_MS);
    };
  }

  /** How long what can wait keeps the page from its turn, in milliseconds. */
  const SLICE_MS = 8;

  /** What does the rest at once of all that waits. @type {Set<() => void>} */
  const waiting = new Set();
  addEventListener("beforeprint", () => waiting.forEach((finish) => finish()));

  /** Whether nothing waits any more. */
  const isSettled = () => waiting.size === 0;

  /**
   * Do what can wait once what is seen first is drawn: in this order, in short slices between frames.
   * What is returned does the rest at once, for whoever asks for it before, as printing does.
   * @param {(() => void)[]} tasks
   * @returns {() => void}
   */
  function inSlices(tasks) {
    const left = [...tasks];
    const run = (/** @type {number} */ ms) => {
      const end = performance.now() + ms;
      do left.shift()?.(); while (left.length && performance.now() < end);
      if (left.length) return;
      waiting.delete(finish);
      if (isSettled()) dispatchEvent(new Event("settled"));
    };
    const finish = () => run(Infinity);
    const next = () => requestAnimationFrame(() => setTimeout(() => {
      if (left.length) run(SLICE_MS);
      if (left.length) next();
    }));
    waiting.add(finish);
    next();
    return finish;
  }

  /** The scripts that follow add to it.
      @type {any} */
  const shared = {
    LATER_MS, STEP, beginning, editNow, effectOf, fill, fitting, freshId, gone, inItalics, inSlices, isPage, isSettled, later, make, makeButton, makeChoice, makeComplaint, makeEntry,
    makeField, makeGroup, markCaption, nearFirst, printed, scientific, set, setBar,
    setOff, setText, stepped, strength,
  };
  window.mhaExplorer = shared;
})();
