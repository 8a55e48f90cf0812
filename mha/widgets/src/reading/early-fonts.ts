/**
 * Fetch the fonts that the page's element names before any text needs them, so that they are loaded
 * when the page is first drawn. The style sheets that declare them precede this script.
 */

const families = document.currentScript?.dataset.fonts?.split(",") ?? [];
families.forEach((family) => document.fonts.load(`1em "${family}"`));
document.fonts.load('italic 1em "STIX Two Text Book"');
