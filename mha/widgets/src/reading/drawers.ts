/**
 * The contents of the book and of the page. On a narrow screen each opens as a drawer, a modal
 * dialog that holds the sidebar while it is open; on a wide one the button of the book's contents
 * folds the sidebar away. layout.css decides which it is, and says so in `--docked`.
 */

const buttons: NodeListOf<HTMLElement> = document.querySelectorAll("button[data-drawer]");
buttons.forEach((button) => {
  const name = button.dataset.drawer ?? "";
  const sidebar = document.getElementById(name);
  const drawer = document.getElementById(`${name}-modal`);
  if (sidebar && drawer instanceof HTMLDialogElement) {
    connect(button, sidebar, drawer);
  } else {
    button.hidden = true;
  }
});

/** Let a button open a sidebar's drawer, or fold the sidebar where there is room for it. */
function connect(button: HTMLElement, sidebar: HTMLElement, drawer: HTMLDialogElement) {
  drawer.setAttribute("aria-label", button.getAttribute("aria-label") ?? "");
  drawer.classList.add("drawer");
  const close = closeButton(drawer);
  button.addEventListener("click", () => {
    if (getComputedStyle(sidebar).getPropertyValue("--docked") !== "") {
      const folded = sidebar.classList.toggle("folded");
      button.setAttribute("aria-expanded", String(!folded));
    } else {
      sidebar.classList.remove("folded");
      drawer.append(close, sidebar);
      drawer.showModal();
    }
  });
  drawer.addEventListener("close", () => {
    drawer.after(sidebar);
    button.focus();
  });
  drawer.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href]");
    if (event.target === drawer || link) {
      drawer.close();
    }
  });
  // Sphinx's own script keeps the Escape key from closing a dialog.
  drawer.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      drawer.close();
    }
  });
}

function closeButton(drawer: HTMLDialogElement) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "bar-button drawer-close";
  close.textContent = "Close";
  close.addEventListener("click", () => drawer.close());
  return close;
}
