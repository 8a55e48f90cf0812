var window = {}; // the library, which runs after this file, adds itself to it

function turn(tex) {
  return window.tex2typst(tex);
}
