/** The dialog that searches the book. Its index and the library come when it is first opened. */

import type { FoundSection, Pieces } from "../types/reading.ts";

const STRINGS = {
  loading: "The search is being loaded …",
  failed: "The search could not be loaded.",
  none: "No section found. Try fewer or other words.",
  one: "1 section found",
  many: "{count} sections found",
  most: "The {count} best sections",
};
const dialog = (document.getElementById("search-dialog") as HTMLDialogElement); // none: nothing below is begun
const input = (dialog?.querySelector(".search-input") as HTMLInputElement);
const list = (dialog?.querySelector(".search-results") as HTMLElement);
const status = (dialog?.querySelector(".search-status") as HTMLElement);
const root = document.documentElement.dataset.content_root ?? "./";
let loading: Promise<typeof import("./search-engine.ts")> | null = null;
let engine: typeof import("./search-engine.ts") | null = null;
let opener: HTMLElement | null = null;
let active = -1;

/* ---- Results ---- */

function options() {
  return ([...list.children] as HTMLAnchorElement[]);
}

/* The index writes an index of a formula as in d₍k₎, an exponent as in W⁽O⁾. */
const SCRIPTS_OF_FORMULAS: Record<string, string> = { "₍": "sub", "⁽": "sup" };

/**
 * Return a line of found words and others; indices and exponents, which may begin in one piece
 * and end in another, are set lower and higher.
 */
function line(name: string, pieces: Pieces) {
  const box = document.createElement("span");
  box.className = name;
  let scripts = ([] as string[]);
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

/** @param names of elements, each inside the one before */
function within([outer, ...inner]: string[], text: string): Node {
  const element = document.createElement(outer);
  element.append(inner.length > 0 ? within(inner, text) : text);
  return element;
}

function option(found: FoundSection, place: number) {
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

function choose(place: number) {
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
  const found = asked && engine ? engine.find(input.value) : [];
  list.replaceChildren(...found.map(option));
  list.hidden = found.length === 0;
  list.scrollTop = 0;
  input.setAttribute("aria-expanded", String(found.length > 0));
  choose(found.length > 0 ? 0 : -1);
  status.textContent = asked ? said(found.length) : "";
}

function said(count: number) {
  const { none, one, many, most } = STRINGS;
  const template = count === 0 ? none : count === 1 ? one : count === 10 ? most : many;
  return template.replace("{count}", String(count));
}

/* ---- Opening and closing ---- */

async function open() {
  if (dialog.open) {
    return;
  }
  opener = (document.activeElement as HTMLElement | null);
  dialog.showModal();
  input.focus();
  input.select();
  if (!engine) {
    status.textContent = STRINGS.loading;
  }
  loading ??= import("./search-engine.ts");
  try {
    engine = await loading;
  } catch {
    loading = null;
    status.textContent = STRINGS.failed;
    return;
  }
  show();
}

function isTyping(event: KeyboardEvent) {
  const target = (event.target as HTMLElement);
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function onShortcut(event: KeyboardEvent) {
  const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
  if ((control && event.key.toLowerCase() === "k") || (slash && !isTyping(event))) {
    event.preventDefault();
    open();
  }
}

function onKey(event: KeyboardEvent) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    choose(active + step);
  } else if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    options()[active]?.click();
  }
}

function start() {
  document.addEventListener("keydown", onShortcut);
  document.addEventListener("click", (event) => {
    if ((event.target as Element).closest(".search-open")) {
      open();
    }
  });
  input.addEventListener("keydown", onKey);
  input.addEventListener("input", () => {
    if (engine) {
      show();
    }
  });
  list.addEventListener("click", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (plain && (event.target as Element).closest("a")) {
      opener = null; // the reader goes on at the section
      dialog.close();
    }
  });
  dialog.addEventListener("click", (event) => {
    const onBackdrop = event.target === dialog;
    if (onBackdrop || (event.target as Element).closest(".search-close")) {
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
}

if (dialog) start();
