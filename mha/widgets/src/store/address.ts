/** Addresses of figures, such as #sheet=plain&query=2: the kind of a figure, its name, and its state. */

/** The parts of an address, null if it is not that of a figure. */
export function partsOf(kind: string, name: string, hash: string = location.hash): URLSearchParams | null {
  const parts = new URLSearchParams(hash.slice(1));
  return parts.get(kind) === name ? parts : null;
}
