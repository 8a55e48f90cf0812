/** Scrubbing a number in the text: neither the number nor the text around it moves. */

/** Numbers that take no more room than they had, for as long as one behind them is dragged. */
let held: { node: HTMLElement, width: number, now: number }[] = [];

let isDragged = false;

/** Hold the numbers of a paragraph up to the one that is dragged where they are. */
export function hold(node: HTMLElement) {
  const those = [...node.closest("p, li, td, figcaption")?.querySelectorAll("data, data .at") ?? []];
  held = those.filter((one) => one === node || (!one.contains(node)
    && one.compareDocumentPosition(node) === Node.DOCUMENT_POSITION_FOLLOWING
    && !those.some((other) => other !== one && other.contains(one) && !other.contains(node))))
    .map((one) => ({ node: (one as HTMLElement),
      width: one.getBoundingClientRect().width, now: 0 }));
  node.classList.add("dragged");
  isDragged = true;
}

export function release(node: HTMLElement) {
  held.forEach((one) => { one.node.style.marginRight = ""; });
  node.style.width = "";
  held = [];
  isDragged = false;
  node.classList.remove("dragged", "at-line-end");
}

/** Change the text, and keep a number of it where it is on the screen. */
export function inPlace(node: HTMLElement, change: () => void) {
  const { top, left } = node.getBoundingClientRect();
  change();
  held.forEach((one) => { one.now = one.node.getBoundingClientRect().width; });
  node.classList.remove("at-line-end");
  held.forEach((one) => {
    if (one.node !== node) one.node.style.marginRight = `${one.width - one.now}px`;
  });
  // What is dragged makes room for itself, unless that takes it to another line.
  const width = held.find((one) => one.node === node)?.width;
  if (width && Math.abs(node.getBoundingClientRect().left - left) >= 0.5) {
    node.classList.add("at-line-end");
    node.style.width = `${width}px`; // which an inline element does not heed
  }
  const by = node.getBoundingClientRect().top - top;
  if (Math.abs(by) > 0.5) scrollBy({ top: by, behavior: "instant" });
}

/** Whether a finger on a number has gone sideways first: then it scrubs, and does not move the page. */
let isSideways = false;

export const isScrubbing = () => isDragged || isSideways;

/** Note which way a finger goes that has come to a number. */
export function touch({ currentTarget, touches: [{ clientX, clientY }] }: TouchEvent) {
  isSideways = false;
  const node = (currentTarget as HTMLElement);
  node.addEventListener("touchmove", ({ touches: [now] }) => {
    isSideways = Math.abs(now.clientX - clientX) >= Math.abs(now.clientY - clientY);
  }, { once: true, capture: true, passive: true });
}
