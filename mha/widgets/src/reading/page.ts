/** Functions with which several scripts put words and controls on a page. */

/**
 * Return the one element of a kind that a selector finds; a page without it is broken.
 *
 * @param kind such as HTMLInputElement
 */
export function find<Kind extends HTMLElement>(parent: ParentNode, selector: string, kind: new () => Kind): Kind {
  const found = parent.querySelector(selector);
  if (!(found instanceof kind)) {
    throw new Error(`there is no ${selector}`);
  }
  return found;
}

/** Return a button of the pages' look. */
export function button(text: string, act: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "reading-button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

/**
 * Return the id that an address leads to, "" for none: a state of an explorer or an
 * instrument leads to it.
 * @param fragment with its #
 */
export function idOf(fragment: string): string {
  try {
    return decodeURIComponent(fragment.slice(1)).replace(/^([a-z]+)=([a-z0-9-]+).*$/s, "$1-$2");
  } catch {
    return ""; // not an address that this page has written
  }
}
