/**
 * In the frame of a widget in a notebook: it takes the notebook's theme, or the system's where the
 * notebook has none, and says how high it is.
 */

const root = document.documentElement;
const wanted = matchMedia("(prefers-color-scheme: dark)");
let scheme = "";
const dress = () => {
  const system = wanted.matches ? "dark" : "light";
  const theme = ["light", "dark"].includes(scheme) ? scheme : system;
  if (theme === root.dataset.theme) return; // what is drawn would be drawn again
  root.style.colorScheme = theme;
  root.dataset.theme = theme;
};
const measure = () => parent.postMessage({ mhaHeight: Math.ceil(root.offsetHeight) }, "*");
wanted.addEventListener("change", dress);
addEventListener("message", ({ data, source }) => {
  if (source !== parent || !data || !("mhaScheme" in data)) return;
  scheme = data.mhaScheme;
  dress();
  measure();
});
dress();
new ResizeObserver(measure).observe(root);
