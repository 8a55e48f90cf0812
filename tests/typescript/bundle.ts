/**
 * Bundles the modules that the tests call into one classic script, which defines `modules`: the exports
 * of engine/numbers.ts are in `modules.numbers`, those of store/own-settings.ts in `modules.ownSettings`,
 * and the data of data/heads-maps.ts are `modules.headsMaps`.
 *
 *     deno run --allow-all tests/typescript/bundle.ts SCRIPT DATA
 *
 * DATA is a folder of JSON files, one for each module of src/data.
 */

/// <reference lib="deno.ns" />

import { build, stop } from "esbuild";

const SOURCE = new URL("../../mha/widgets/src/", import.meta.url).pathname;
const [script, data] = Deno.args;
/** Beside all of engine: modules without an element of their own, or whose functions are tested alone. */
const OTHERS = ["store/explorer-address", "store/explorer-origins", "store/explorer-state", "store/own-settings",
  "store/progress", "figures/explorer-sections", "figures/plane-weights", "figures/strip-width", "panels/own-asks",
  "panels/own-files", "panels/own-sheet"];

const engine = [...Deno.readDirSync(`${SOURCE}engine`)].map(({ name }) => name)
  .filter((name) => name.endsWith(".ts")).map((name) => `engine/${name.slice(0, -3)}`).sort();
const camel = (path: string) => path.replace(/^.*\//, "").replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const dataNames = [...Deno.readDirSync(data)].map(({ name }) => name.replace(/\.json$/, "")).sort();
const entry = [
  ...dataNames.map((name) => `export { default as ${camel(name)} } from "${SOURCE}data/${name}.ts";`),
  ...[...engine, ...OTHERS].map((path) => `export * as ${camel(path)} from "${SOURCE}${path}.ts";`),
];

await build({
  stdin: { contents: entry.join("\n"), resolveDir: SOURCE, loader: "ts" }, bundle: true, format: "iife",
  globalName: "modules", outfile: script, target: "es2022", logLevel: "error",
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  plugins: [{
    name: "data",
    setup({ onResolve }) {
      onResolve({ filter: /\/data\// }, ({ path }) =>
        ({ path: `${data}/${path.replace(/^.*\//, "").replace(/\.ts$/, "")}.json` }));
    },
  }],
});
await stop();
