/* What several scripts need to put words and controls on a page. */
(function () {
  "use strict";

  /**
   * Return a text with its {names} filled in.
   * @param {string} template
   * @param {Record<string, string | number>} values
   * @returns {string}
   */
  function fill(template, values) {
    return template.replace(/\{(\w+)\}/g, (whole, name) =>
      name in values ? String(values[name]) : whole);
  }

  /**
   * Return the one element of a kind that a selector finds; a page without it is broken.
   * @template {HTMLElement} Kind
   * @param {ParentNode} parent
   * @param {string} selector
   * @param {new () => Kind} kind such as HTMLInputElement
   * @returns {Kind}
   */
  function find(parent, selector, kind) {
    const found = parent.querySelector(selector);
    if (!(found instanceof kind)) {
      throw new Error(`there is no ${selector}`);
    }
    return found;
  }

  /**
   * Return a button of the pages' look.
   * @param {string} text
   * @param {() => void} act
   * @returns {HTMLButtonElement}
   */
  function button(text, act) {
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
   * @param {string} fragment with its #
   * @returns {string}
   */
  function idOf(fragment) {
    try {
      return decodeURIComponent(fragment.slice(1)).replace(/^([a-z]+)=([a-z0-9-]+).*$/s, "$1-$2");
    } catch {
      return ""; // not an address that this page has written
    }
  }

  window.mhaPage = { button, fill, find, idOf };
})();
