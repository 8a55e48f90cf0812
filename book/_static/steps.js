/* Read a page in steps. The steps are the page's own sections: the introduction, each second-level
   section, and where such a section has sections of its own, each of these. Nothing is hidden until
   a reader asks for it, and printing or searching the page shows all of it. */
(function () {
  "use strict";
  const strings = window.mhaStrings.steps;
  const progress = window.mhaProgress;
  const { button, fill, find } = window.mhaPage;
  const ARTICLE = ":has(> .steps-start):has(> h1)";
  const HEADING = ":scope > :is(h1, h2, h3, h4), :scope > details > summary > :is(h2, h3, h4)";
  const FIELDS = "input, textarea, select, [contenteditable], summary, mha-explorer, [role=grid]";

  if (!document.querySelector(ARTICLE)) {
    return;
  }

  /* ---- The steps of the page ---- */

  /** @typedef {{heading: HTMLElement, elements: Element[]}} Step */

  /** @param {Element} node */
  const isSection = (node) => node.tagName === "SECTION";

  /** @param {Element} node */
  const isHeading = (node) => /^H[1-6]$/.test(node.tagName);

  /**
   * Return the step that an element's heading begins.
   * @param {Element} parent
   * @param {Element[]} elements
   * @returns {Step}
   */
  function stepWith(parent, elements) {
    return { heading: find(parent, HEADING, HTMLElement), elements };
  }

  /**
   * Return the steps of a section that has sections of its own: its heading stays above each.
   * @param {Element} section
   * @returns {Step[]}
   */
  function split(section) {
    const children = Array.from(section.children);
    const own = children.filter((child) =>
      !isSection(child) && !isHeading(child) && child.textContent.trim() !== "");
    const first = own.length > 0 ? [stepWith(section, own)] : [];
    const parts = children.filter(isSection).map((part) => stepWith(part, [part]));
    return first.concat(parts).map(({ heading, elements }) =>
      ({ heading, elements: elements.concat(section) }));
  }

  /**
   * @param {HTMLElement} article
   * @param {HTMLElement} place
   * @returns {Step[]}
   */
  function stepsOf(article, place) {
    const children = Array.from(article.children);
    const before = children.filter((child) =>
      !isSection(child) && !isHeading(child) && child !== place);
    const after = children.filter(isSection).flatMap((section) =>
      Array.from(section.children).some(isSection) ? split(section) : stepWith(section, [section]));
    return [stepWith(article, before), ...after];
  }

  const article = find(document, ARTICLE, HTMLElement);
  const place = find(article, ":scope > .steps-start", HTMLElement);
  const steps = stepsOf(article, place);
  const all = Array.from(new Set(steps.flatMap((step) => step.elements)));
  let current = 0; // counted from 1; 0 is the whole page

  /**
   * Return a heading's words without its number and its link.
   * @param {HTMLElement} heading
   * @returns {string}
   */
  function words(heading) {
    const copy = document.createElement("div");
    copy.append(heading.cloneNode(true));
    copy.querySelectorAll(".headerlink, .section-number").forEach((part) => part.remove());
    return copy.textContent.trim();
  }

  /* ---- The bar and the button ---- */

  const begin = button("", () => go(progress.lastStep() || 1));
  const previous = button(strings.previous, () => go(current - 1));
  const next = button(strings.next, () => go(current + 1));
  const whole = button(strings.whole, showWhole);
  const bar = document.createElement("nav");
  const label = document.createElement("span");
  const meter = document.createElement("progress");
  const status = document.createElement("p");

  function build() {
    bar.className = "steps-bar";
    bar.setAttribute("aria-label", strings.bar);
    bar.hidden = true;
    label.className = "steps-label";
    meter.max = steps.length;
    meter.setAttribute("aria-label", strings.progress);
    previous.title = next.title = strings.keys;
    status.className = "reading-unseen";
    status.setAttribute("role", "status");
    bar.append(meter, previous, label, next, whole);
    place.append(begin, status);
    article.append(bar);
  }

  /** Show where the reader is, on the button or in the bar. */
  function update() {
    const last = Math.min(progress.lastStep(), steps.length);
    const values = { step: current || last, total: steps.length };
    begin.textContent = last > 1 ? fill(strings.resume, values) : strings.begin;
    begin.hidden = current > 0;
    bar.hidden = current === 0;
    if (current > 0) {
      label.textContent = fill(strings.place, values) + ": " + words(steps[current - 1].heading);
      meter.value = current;
      off(previous, current === 1);
      off(next, current === steps.length);
    }
  }

  /**
   * Switch a button off without taking the focus from it.
   * @param {HTMLButtonElement} control
   * @param {boolean} isOff
   */
  function off(control, isOff) {
    control.setAttribute("aria-disabled", String(isOff));
  }

  /* ---- Showing and hiding ---- */

  /**
   * Hide an element, where the browser can, so that a search of the page still finds it.
   * @param {Element} element
   */
  function conceal(element) {
    element.classList.add("step-hidden");
    element.setAttribute("hidden", "until-found");
  }

  /** @param {Element} element */
  function reveal(element) {
    element.classList.remove("step-hidden");
    element.removeAttribute("hidden");
  }

  /**
   * Show a step.
   * @param {number} step counted from 1
   */
  function show(step) {
    current = step;
    const shown = new Set(steps[step - 1].elements);
    all.forEach((element) => (shown.has(element) ? reveal : conceal)(element));
    article.classList.add("in-steps");
    progress.setRead(step, steps.length);
    update();
  }

  function showWhole() {
    if (current === 0) {
      return;
    }
    const heading = steps[current - 1].heading;
    const hadFocus = bar.contains(document.activeElement);
    leave();
    status.textContent = strings.wholeShown;
    if (/^#step-\d+$/.test(location.hash)) {
      setAddress(location.pathname + location.search, false);
    }
    if (hadFocus) {
      focus(heading);
    }
  }

  function leave() {
    current = 0;
    all.forEach(reveal);
    article.classList.remove("in-steps");
    update();
  }

  /** @param {HTMLElement} heading */
  function focus(heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  }

  /**
   * Open a step on the reader's demand; where there is none, stay.
   * @param {number} step
   */
  function go(step) {
    if (step < 1 || step > steps.length) {
      return;
    }
    status.textContent = "";
    show(step);
    setAddress("#step-" + step, true);
    focus(steps[step - 1].heading);
  }

  /**
   * Change the address; a page opened as a file, or in a frame, may not be allowed to.
   * @param {string} address
   * @param {boolean} isNew
   */
  function setAddress(address, isNew) {
    try {
      history[isNew ? "pushState" : "replaceState"](history.state, "", address);
    } catch {
      // The step is shown all the same; only its address is not.
    }
  }

  /* ---- Addresses ---- */

  /**
   * Return the element that a fragment names, or null.
   * @param {string} fragment
   * @returns {HTMLElement | null}
   */
  function named(fragment) {
    try {
      return document.getElementById(decodeURIComponent(fragment.slice(1)));
    } catch {
      return null; // not an address that this page has written
    }
  }

  /**
   * Return the step that holds an element, counted from 1, or 0.
   * @param {Element | null} element
   * @returns {number}
   */
  function stepOf(element) {
    let found = 0;
    let size = Infinity;
    steps.forEach((step, i) => {
      step.elements.filter((part) => part.contains(element)).forEach((part) => {
        // The smallest part decides: a section stands in the steps of all its own sections.
        if (part.textContent.length < size) {
          found = i + 1;
          size = part.textContent.length;
        }
      });
    });
    return found;
  }

  function follow() {
    const asked = /^#step-(\d+)$/.exec(location.hash);
    if (asked) {
      const step = Math.min(Math.max(Number(asked[1]), 1), steps.length);
      show(step);
      focus(steps[step - 1].heading);
      return;
    }
    const element = current > 0 && location.hash.length > 1 ? named(location.hash) : null;
    const step = stepOf(element);
    if (step > 0) {
      show(step);
      element?.scrollIntoView();
    }
  }

  /** @param {MouseEvent} event */
  function onClick(event) {
    const link = elementOf(event)?.closest('a[href*="#"]');
    if (!(link instanceof HTMLAnchorElement) || link.pathname !== location.pathname) {
      return;
    }
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    const step = current > 0 && isPlain && link.hash.length > 1 ? stepOf(named(link.hash)) : 0;
    if (step > 0) {
      show(step); // before the browser looks for the element
    }
  }

  /* ---- Keys, finding and printing ---- */

  /**
   * Return the element that an event is about, if it is one.
   * @param {Event} event
   * @returns {Element | null}
   */
  function elementOf(event) {
    return event.target instanceof Element ? event.target : null;
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
      showWhole();
      return;
    }
    const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    const isBusy = event.defaultPrevented || usesArrows(elementOf(event));
    if (current > 0 && turn !== undefined && isPlain && !isBusy) {
      event.preventDefault();
      go(current + turn);
    }
  }

  /**
   * Tell whether the arrow keys already do something here: in a field, or in what they scroll.
   * @param {Element | null} element
   */
  function usesArrows(element) {
    const box = element?.closest("[tabindex='0']");
    const scrolls = box && box.scrollWidth > box.clientWidth;
    return Boolean(element?.closest(FIELDS) || scrolls);
  }

  /**
   * A search has found hidden text: show the whole page, or the step that a link leads to.
   * @param {Event} event
   */
  function onFound(event) {
    const element = named(location.hash);
    if (element && elementOf(event)?.contains(element)) {
      follow();
    } else {
      showWhole();
    }
  }

  build();
  update();
  follow();
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", () => {
    if (location.hash === "" && current > 0) {
      showWhole();
    }
  });
  document.addEventListener("click", onClick, true);
  document.addEventListener("keydown", onKey);
  article.addEventListener("beforematch", onFound);
  document.addEventListener("mha-progress-cleared", update);

  let printed = 0;
  window.addEventListener("beforeprint", () => {
    printed = current;
    leave();
  });
  window.addEventListener("afterprint", () => {
    if (printed > 0) {
      show(printed);
    }
  });
})();
