/**
 * Bundles the pages' TypeScript into classic scripts, for scripts/bundling.py.
 *
 *     deno run --allow-all scripts/bundle.ts FOLDER
 *
 * Rollup cuts the modules into chunks and writes them as AMD modules, which loader.ts runs; a chunk that
 * a dynamic import asks for is loaded then. esbuild removes the types and shortens the text.
 * `chunks.json` says which chunks each chunk imports, so that Python knows what a page has to load.
 */

/// <reference lib="deno.ns" />

import { existsSync } from "node:fs";
import { build, stop, transform } from "esbuild";
import { type Plugin, rollup } from "rollup";

const SOURCE = new URL("../mha/widgets/src/", import.meta.url).pathname;
const PACKAGES = new URL("../node_modules/", import.meta.url).pathname;
const STYLES = new URL("../mha/widgets/static/", import.meta.url).pathname;
const TARGET = "es2022";
const TYPESCRIPT = { compilerOptions: { useDefineForClassFields: false } };

/** What a page loads by a script of its own; all else is loaded when it is asked for. */
const ENTRIES = {
  boxes: "panels/boxes.ts",
  explorer: "figures/explorer.ts",
  instrument: "panels/instrument.ts",
  lessons: "reading/lessons.ts",
  reading: "reading/reading.ts",
  search: "reading/search.ts",
};

/** Modules of one chunk, where the cut by imports would make many small ones. */
const CHUNKS: Record<string, string[]> = {
  base: ["engine/text", "reading/page", "strings/reading"],
  progress: ["store/progress"],
  arithmetic: ["engine/attention", "engine/numbers", "engine/operations", "engine/origins", "engine/places",
    "engine/signs", "engine/stages", "engine/typed-numbers", "strings/numbers"],
  core: ["figures/explorer-parts", "figures/history-buttons", "figures/strip-drawing", "store/address",
    "store/edits", "store/explorer-origins", "store/explorer-state", "store/history", "store/same", "store/share",
    "strings/explorer", "strings/explorer-heat"],
  draws: ["engine/draws"],
  exercises: ["engine/answers", "engine/exercises"],
  looking: ["engine/bytes", "figures/dragged-field", "figures/origin-line", "figures/weight-maps",
    "strings/looking"],
  plane: ["figures/glide", "figures/plane", "figures/plane-axes", "figures/plane-geometry", "figures/plane-sliders",
    "figures/plane-tips", "strings/explorer-views"],
  time: ["figures/time-bar", "store/figure-state", "strings/steps", "strings/time-bar"],
};
const CHUNK_OF = new Map(Object.entries(CHUNKS).flatMap(([chunk, names]) => names.map((name) => [name, chunk])));

/** Scripts that are published with others before them in one file: a page asks for fewer files. */
const TOGETHER: Record<string, string[]> = {
  reading: ["loader", "base", "progress"],
  boxes: ["exercises", "your-turn"],
  explorer: ["core", "explorer-view"],
  "bugs-view": ["draws"],
  own: ["draws"],
};

/** Scripts that stand in a page as text: they share nothing with others. */
const ALONE = ["loader", "notebook/frame-around", "notebook/frame-inside", "reading/early", "reading/early-fonts"];

/** The strip's sheet is published at the end of the explorer's, whose rules it overrides. */
const STRIP = "strip.css";

/** Browsers compile a script's functions with this line beside the page's thread while it loads, and not
    each when it is first called, which is a seventh of the time until a figure is there. */
const HINT = "//# allFunctionsCalledOnLoad\n";

const typescript: Plugin = {
  name: "typescript",
  resolveId(source, importer) {
    // Data come from Python, as modules of their own.
    if (source.includes("/data/")) return { id: `./${source.replace(/^.*\/data\//, "").replace(/\.ts$/, "")}`, external: true };
    if (source === "minisearch") return PACKAGES + "minisearch/dist/es/index.js";
    const path = importer ? new URL(source, `file://${importer}`).pathname : SOURCE + source;
    if (importer && !existsSync(path)) {
      const before = Deno.readTextFileSync(importer).split(`"${source}"`)[0];
      throw Object.assign(new Error(`there is no module ${source}`), { id: importer, loc: { line: before.split("\n").length } });
    }
    return path;
  },
  async transform(code, id) {
    if (id.endsWith(".json")) return { code: `export default ${code}`, map: null };
    if (!id.endsWith(".ts")) return null;
    const { code: plain } = await transform(code, {
      loader: "ts", target: TARGET, tsconfigRaw: TYPESCRIPT, sourcefile: id, logLevel: "silent",
    });
    return { code: plain, map: null };
  },
  async renderChunk(code) {
    return { code: (await transform(code, { minify: true, target: TARGET })).code, map: null };
  },
};

async function bundle(folder: string) {
  const made = await rollup({ input: ENTRIES, plugins: [typescript], preserveEntrySignatures: false });
  const { output } = await made.generate({
    format: "amd", amd: { autoId: true }, interop: "esModule", externalLiveBindings: false,
    generatedCode: { arrowFunctions: true, constBindings: true, objectShorthand: true }, minifyInternalExports: true,
    entryFileNames: "[name].js", chunkFileNames: "[name].js", onlyExplicitManualChunks: true,
    manualChunks: (id) => CHUNK_OF.get(id.replace(SOURCE, "").replace(/\.\w+$/, "")),
  });
  const texts: Record<string, string> = {};
  const chunks: Record<string, string[]> = {};
  const nameOf = (file: string) => file.replace(/^\.\//, "").replace(/\.js$/, "");
  for (const file of output) {
    if (file.type !== "chunk") continue;
    texts[file.name] = file.code;
    chunks[file.name] = file.imports.map(nameOf);
  }
  // Chunks share short names, other ones after each change: the loader asks for those of its own version.
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(Object.values(texts).join(""))));
  const define = { VERSION: JSON.stringify(digest.toHex().slice(0, 8)) };
  for (const name of ALONE) texts[name.replace(/^.*\//, "")] = await alone(`${SOURCE}${name}.ts`, define);
  for (const [name, text] of Object.entries(texts)) {
    const before = (TOGETHER[name] ?? []).map((other) => texts[other]).join("");
    const hint = name.startsWith("early") ? "" : HINT;
    await Deno.writeTextFile(`${folder}/${name}.js`, hint + before + text);
  }
  const sheets = [...Deno.readDirSync(STYLES)].map(({ name }) => name).filter((name) => name.endsWith(".css"));
  for (const name of sheets.filter((sheet) => sheet !== STRIP)) {
    const parts = name === "explorer.css" ? [name, STRIP] : [name];
    const texts = await Promise.all(parts.map((part) => alone(STYLES + part)));
    await Deno.writeTextFile(`${folder}/${name}`, texts.join(""));
  }
  await Deno.writeTextFile(`${folder}/chunks.json`, `${JSON.stringify({ imports: chunks, together: TOGETHER }, null, 1)}\n`);
}

/** A script or style sheet with all that it imports, shortened. */
async function alone(path: string, define: Record<string, string> = {}): Promise<string> {
  const { outputFiles: [file] } = await build({
    entryPoints: [path], bundle: true, minify: true, target: TARGET, write: false, tsconfigRaw: TYPESCRIPT,
    external: ["*.woff2"], define, logLevel: "silent",
  });
  return file.text;
}

/** Where and why a module cannot be bundled, as file, line and cause. */
function told(error: unknown): string {
  const { errors, id, loc, message } = error as {
    errors?: { location: { file: string, line: number } | null, text: string }[],
    id?: string, loc?: { file?: string, line: number }, message: string };
  const [first] = errors ?? [];
  const [file, line, cause] = first?.location ? [first.location.file, first.location.line, first.text]
    : [loc?.file ?? id ?? "", loc?.line ?? 1, message];
  return `${file.replace(SOURCE, "mha/widgets/src/") || "scripts/bundle.ts"}:${line}: ${cause.split("\n")[0]}`;
}

try {
  await bundle(Deno.args[0]);
} catch (error) {
  console.error(told(error));
  Deno.exitCode = 1;
}
await stop();
