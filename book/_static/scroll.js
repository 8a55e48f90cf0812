/* Every box of an equation or a figure comes with a tab stop. Leave one only at those that can
   scroll, so that a keyboard reader does not stop at every formula. */
(function () {
  "use strict";
  const boxes = document.querySelectorAll(".math-scroll, .math-wide, .drawing");
  const update = function (box) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  };
  const observer = new ResizeObserver(function (entries) {
    entries.forEach(function (entry) { update(entry.target); });
  });
  boxes.forEach(function (box) { observer.observe(box); });
  document.fonts.ready.then(function () { boxes.forEach(update); });
})();
