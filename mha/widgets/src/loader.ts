/**
 * Runs the bundled modules: `define` as the bundler writes it (AMD), and loading by name.
 *
 * A page may be opened from a file, where browsers refuse ES modules, so modules are published as
 * classic scripts. A module runs once all modules that it imports have run; one that the page has no
 * script for is loaded from beside this script, or read from the page, where a notebook's frame holds it.
 */

type Factory = (...imports: unknown[]) => unknown;
type Require = (names: string[], done: (module: unknown) => void, failed: (reason: unknown) => void) => void;

/** The version of the bundles; scripts/bundle.ts puts it here. */
declare const VERSION: string;

const folder = (document.currentScript?.getAttribute("src") ?? "").replace(/[^/]*$/, "");

/** The modules that have run or will run, by name. */
const modules: Record<string, Promise<object>> = {};
const exported: Record<string, object> = {};
const defined = new Set<string>();
const arrived: Record<string, (module: Promise<object>) => void> = {};

/** After this time a script that did not arrive is loaded once more, for lost connections. A browser stops
    the scripts of a page that is being left, and such a page has no later times. */
const AGAIN_MS = 1000;

const nameOf = (path: string) => path.replace(/^.*\/|\.js$/g, "");

function append(name: string, failed: () => void) {
  const script = document.createElement("script");
  const held = document.getElementById(`${name}.js`);
  if (held) script.text = held.textContent ?? "";
  else script.src = `${folder}${name}.js?v=${VERSION}`;
  script.onerror = failed;
  document.head.append(script);
}

function load(name: string): Promise<object> {
  modules[name] ??= new Promise((resolve, reject) => {
    arrived[name] = resolve;
    append(name, () => setTimeout(append, AGAIN_MS, name, () => {
      delete modules[name]; // it may be asked for again
      reject(new Error(`${name}.js cannot be loaded`));
    }));
  });
  return modules[name];
}

const require: Require = ([path], done, failed) => load(nameOf(path)).then(done, failed);

/** Take a module; one without imports and exports comes without a list of them. */
function define(name: string, imports: string[] | Factory, factory: Factory) {
  if (defined.has(name)) return; // it has come in a file with others already
  defined.add(name);
  if (typeof imports === "function") [imports, factory] = [[], imports];
  const paths = imports;
  const own = {};
  const run = () => {
    const result = factory(...paths.map((path) =>
      path === "require" ? require : path === "exports" ? own : exported[nameOf(path)]));
    return (exported[name] = (result ?? own) as object);
  };
  const wanted = paths.filter((path) => path !== "require" && path !== "exports").map(nameOf);
  const isReady = wanted.every((path) => path in exported);
  const module = isReady ? Promise.resolve(run()) : Promise.all(wanted.map(load)).then(run);
  arrived[name]?.(module);
  modules[name] ??= module;
}

// A second copy of this script would load the same modules again.
if (!("define" in window)) Object.assign(window, { define });
