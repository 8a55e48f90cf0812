/**
 * Scripts that follow scrolling: which boxes are tab stops, which section the page's contents mark, and
 * whether they are seen.
 *
 * Every box of an equation or a figure comes with a tab stop, a block's tables come without. Leave
 * one only at those that can scroll, so that a keyboard reader does not stop at every formula.
 */

const BOXES = ".math-scroll, .math-wide, .drawing, .stage-part .pst-scrollable-table-container";

function update(box: Element) {
  if (box.scrollWidth > box.clientWidth) {
    box.setAttribute("tabindex", "0");
  } else {
    box.removeAttribute("tabindex");
  }
}

const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => update(target)));

/** @param part of the page */
function watch(part: ParentNode) {
  part.querySelectorAll(BOXES).forEach((box) => observer.observe(box));
}

watch(document);
document.addEventListener("byhand:built", (event) =>
  watch((event as CustomEvent<Element>).detail));
document.fonts.ready.then(() => document.querySelectorAll(BOXES).forEach(update));

const READING = 150; // pixels from the window's top, where the section that is read begins at most
const links: NodeListOf<HTMLAnchorElement> = document.querySelectorAll(".page-toc a[href^='#']");

/** Mark the last section of the contents that has begun; at the page's end that is the last. */
function mark() {
  const isEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0;
  const begun = Array.from(links).filter(({ hash }) => {
    const place = document.getElementById(decodeURIComponent(hash.slice(1)));
    return place !== null && (isEnd || place.getBoundingClientRect().top <= READING);
  });
  links.forEach((link) => link.classList.toggle("active", link === begun.at(-1)));
}

const WIDE = ".cell:has(mha-explorer, mha-instrument), .full-width, .tag_full-width, div.highlight, "
  + ".pst-scrollable-table-container";
const contents = document.querySelector(".bd-sidebar-secondary");
let wide = [...document.querySelectorAll(WIDE)];

/** Contents, and their title, that a wide block would cover give way to it as a whole. */
function giveWay() {
  const place = contents?.querySelector(".sidebar-secondary-item")?.getBoundingClientRect();
  contents?.classList.toggle("covered", place !== undefined && wide.some((block) => {
    const { bottom, right, top } = block.getBoundingClientRect();
    return right > place.left && bottom > place.top && top < place.bottom;
  }));
}

// A fold that opens may hold wide blocks, or move them.
document.addEventListener("toggle", () => {
  wide = [...document.querySelectorAll(WIDE)];
  giveWay();
}, true);

let waits = false;
addEventListener("scroll", () => {
  if (!waits) {
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      mark();
      giveWay();
    });
  }
}, { passive: true });
mark();
giveWay();
