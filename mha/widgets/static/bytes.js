/* Numbers that a script holds as text: their bytes in base 64, the lowest of a number first. */
(function () {
  "use strict";

  /** @param {string} text */
  function bytesOf(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = letters.charCodeAt(i);
    return bytes;
  }

  /** Numbers of 64 bits as a matrix a head.
      @type {(text: string, shape: number[]) => Matrix[]} */
  function matricesOf(text, [heads, rows, width]) {
    const numbers = new Float64Array(bytesOf(text).buffer);
    return Array.from({ length: heads }, (_head, h) => Array.from({ length: rows }, (_row, i) =>
      [...numbers.subarray((h * rows + i) * width, (h * rows + i + 1) * width)]));
  }

  Object.assign(window.mhaExplorer, { bytesOf, matricesOf });
})();
