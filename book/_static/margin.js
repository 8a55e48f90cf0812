/* The page's contents, in the margin, give way as a whole to a wide block that would cover them line
   by line. */
(function () {
  "use strict";
  const WIDE = ".cell:has(mha-explorer, mha-instrument), .full-width, .tag_full-width, div.highlight, "
    + ".pst-scrollable-table-container";
  const contents = document.querySelector(".bd-sidebar-secondary");
  const list = contents?.querySelector("nav.page-toc");
  if (!contents || !list) return;
  const wide = [...document.querySelectorAll(WIDE)];

  function giveWay() {
    const place = /** @type {Element} */ (list).getBoundingClientRect();
    contents?.classList.toggle("covered", wide.some((block) => {
      const { bottom, right, top } = block.getBoundingClientRect();
      return right > place.left && bottom > place.top && top < place.bottom;
    }));
  }

  let waits = false;
  addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      giveWay();
    });
  }, { passive: true });
})();
