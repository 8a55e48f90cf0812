/**
 * Fetch the page's fonts, which its element names, before text asks for them: they are there when
 * it is first drawn. The style sheets that declare them stand above.
 */

const families = document.currentScript?.dataset.fonts?.split(",") ?? [];
families.forEach((family) => document.fonts.load(`1em "${family}"`));
document.fonts.load('italic 1em "STIX Two Text Book"');
