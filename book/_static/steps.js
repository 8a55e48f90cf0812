/* Read a page in steps. The steps are the page's own sections: the introduction, each second-level
   section, and where such a section has sections of its own, each of these. Nothing is hidden until
   a reader asks for it, and printing or searching the page shows all of it. */
(function () {
  "use strict";
  const strings = window.mhaStrings.steps;
  const fill = window.mhaProgress.fill;
  const place = document.querySelector(".steps-start");
  const title = place && place.parentElement.querySelector(":scope > h1");
  const FIELDS = "input, textarea, select, [contenteditable], summary, mha-explorer, [role=grid]";

  if (!title) {
    return;
  }

  /* ---- The steps of the page ---- */

  const isSection = function (node) { return node.tagName === "SECTION"; };
  const isHeading = function (node) { return /^H[1-6]$/.test(node.tagName); };

  /** Add an element to all steps from one to another, counted from 0. */
  function put(steps, element, from, to) {
    for (let i = from; i <= to; i += 1) {
      steps[i].elements.push(element);
    }
  }

  /** Add a section that has sections of its own: its heading stays above each of them. */
  function split(steps, section) {
    const heading = section.querySelector(":scope > :is(h2, h3)");
    const own = Array.from(section.children).filter(function (child) {
      return !isSection(child) && !isHeading(child) && child.textContent.trim() !== "";
    });
    const parts = Array.from(section.children).filter(isSection);
    const first = steps.length;
    if (own.length > 0) {
      steps.push({ heading: heading, elements: own });
    }
    parts.forEach(function (part) {
      steps.push({ heading: part.querySelector(":is(h3, h4)"), elements: [part] });
    });
    put(steps, section, first, steps.length - 1);
  }

  function stepsOf(article) {
    const children = Array.from(article.children);
    const before = children.filter(function (child) {
      return !isSection(child) && !isHeading(child) && child !== place;
    });
    const steps = [{ heading: title, elements: before }];
    children.filter(isSection).forEach(function (section) {
      if (Array.from(section.children).some(isSection)) {
        split(steps, section);
      } else {
        steps.push({ heading: section.querySelector("h2"), elements: [section] });
      }
    });
    return steps;
  }

  const article = title.parentElement;
  const steps = stepsOf(article);
  const all = Array.from(new Set(steps.flatMap(function (step) { return step.elements; })));
  let current = 0; // counted from 1; 0 is the whole page

  /** Return a heading's words without its number and its link. */
  function words(heading) {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll(".headerlink, .section-number").forEach(function (part) { part.remove(); });
    return copy.textContent.trim();
  }

  /* ---- The bar and the button ---- */

  function button(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "reading-button";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  }

  const begin = button("", function () { go(window.mhaProgress.lastStep() || 1); });
  const previous = button(strings.previous, function () { go(current - 1); });
  const next = button(strings.next, function () { go(current + 1); });
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
    const last = Math.min(window.mhaProgress.lastStep(), steps.length);
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

  /** Switch a button off without taking the focus from it. */
  function off(control, isOff) {
    control.setAttribute("aria-disabled", String(isOff));
  }

  /* ---- Showing and hiding ---- */

  /** Hide an element, where the browser can, so that a search of the page still finds it. */
  function conceal(element) {
    element.classList.add("step-hidden");
    element.setAttribute("hidden", "until-found");
  }

  function reveal(element) {
    element.classList.remove("step-hidden");
    element.removeAttribute("hidden");
  }

  /** Show a step, counted from 1. */
  function show(step) {
    current = step;
    const shown = new Set(steps[step - 1].elements);
    all.forEach(function (element) { (shown.has(element) ? reveal : conceal)(element); });
    article.classList.add("in-steps");
    window.mhaProgress.setRead(step, steps.length);
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
      setAddress(location.pathname + location.search);
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

  function focus(heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  }

  /** Open a step on the reader's demand. */
  function go(step) {
    if (step < 1 || step > steps.length) {
      return;
    }
    status.textContent = "";
    show(step);
    setAddress("#step-" + step, true);
    focus(steps[step - 1].heading);
  }

  /** Change the address; a page opened as a file, or in a frame, may not be allowed to. */
  function setAddress(address, isNew) {
    try {
      history[isNew ? "pushState" : "replaceState"](history.state, "", address);
    } catch (error) {
      // The step is shown all the same; only its address is not.
    }
  }

  /* ---- Addresses ---- */

  function target() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch (error) {
      return null; // not an address that this page has written
    }
  }

  /** Return the step that holds an element, counted from 1, or 0. */
  function stepOf(element) {
    let found = 0;
    let size = Infinity;
    steps.forEach(function (step, i) {
      step.elements.forEach(function (part) {
        // The smallest part decides: a section stands in the steps of all its own sections.
        if (part.contains(element) && part.textContent.length < size) {
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
    const element = current > 0 && location.hash.length > 1 ? target() : null;
    const step = element ? stepOf(element) : 0;
    if (step > 0) {
      show(step);
      element.scrollIntoView();
    }
  }

  function onClick(event) {
    const link = event.target.closest('a[href*="#"]');
    const isHere = link && link.pathname === location.pathname && link.hash.length > 1;
    if (!isHere || current === 0 || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    const element = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const step = element ? stepOf(element) : 0;
    if (step > 0) {
      show(step); // before the browser looks for the element
    }
  }

  /* ---- Keys, finding and printing ---- */

  function onKey(event) {
    const turns = { ArrowLeft: -1, ArrowRight: 1 };
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
      showWhole();
      return;
    }
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    const isBusy = event.defaultPrevented || event.target.closest(FIELDS) || scrolls(event.target);
    if (current > 0 && event.key in turns && isPlain && !isBusy) {
      event.preventDefault();
      go(current + turns[event.key]);
    }
  }

  /** Tell whether the arrow keys already move something sideways here. */
  function scrolls(element) {
    const box = element.closest("[tabindex='0']");
    return box !== null && box.scrollWidth > box.clientWidth;
  }

  /** A search has found hidden text: show the whole page, or the step that a link leads to. */
  function onFound(event) {
    const element = target();
    if (element && event.target.contains(element)) {
      follow();
    } else {
      showWhole();
    }
  }

  build();
  update();
  follow();
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", function () {
    if (location.hash === "" && current > 0) {
      showWhole();
    }
  });
  document.addEventListener("click", onClick, true);
  document.addEventListener("keydown", onKey);
  article.addEventListener("beforematch", onFound);
  document.addEventListener("mha-progress-cleared", update);

  let printed = 0;
  window.addEventListener("beforeprint", function () {
    printed = current;
    leave();
  });
  window.addEventListener("afterprint", function () {
    if (printed > 0) {
      show(printed);
    }
  });
})();
