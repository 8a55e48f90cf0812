/**
 * The script before any drawing, in the page itself: the reader's colours, the preloading of the text's
 * fonts, and the labels of the script that folds solutions. The theme leaves an invalid mode on a first
 * visit, which its own script corrects only later.
 */

const root = document.documentElement;
let mode: string | null = null;
try {
  mode = localStorage.getItem("mode");
} catch {
  // Storage may be closed to files.
}
root.dataset.mode = mode === "light" || mode === "dark" ? mode : "auto";
const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
root.dataset.theme = root.dataset.mode === "auto" ? system : root.dataset.mode;

function preload(name: string) {
  const link = document.createElement("link");
  link.rel = "preload";
  link.as = "font";
  link.type = "font/woff2";
  link.crossOrigin = "anonymous";
  link.href = `${root.dataset.content_root}_static/fonts/${name}.woff2`;
  document.head.append(link);
}

// Browsers refuse to fetch a font ahead for a page that is opened as a file.
if (location.protocol !== "file:") ["stix-two-text", "interface"].forEach(preload);
Object.assign(window, {
  toggleHintShow: "Show",
  toggleHintHide: "Hide",
  toggleOpenOnPrint: "true",
  togglebuttonSelector: ".toggle, .admonition.dropdown",
});
