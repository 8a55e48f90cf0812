/* Every box of an equation or a figure comes with a tab stop, a block's tables come without. Leave
   one only at those that can scroll, so that a keyboard reader does not stop at every formula. */
(function () {
  "use strict";
  /** @type {NodeListOf<HTMLElement>} */
  const boxes = document.querySelectorAll(
    ".math-scroll, .math-wide, .drawing, .stage-part .pst-scrollable-table-container",
  );

  /** @param {Element} box */
  function update(box) {
    if (box.scrollWidth > box.clientWidth) {
      box.setAttribute("tabindex", "0");
    } else {
      box.removeAttribute("tabindex");
    }
  }

  const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => update(target)));
  boxes.forEach((box) => observer.observe(box));
  document.fonts.ready.then(() => boxes.forEach(update));
})();
