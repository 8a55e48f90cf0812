/** The corrected slips of a document in the page's address: numbers from 1 and ranges, such as 1-3.7. */

/** The part of an address for some slips. */
export function toRuns(which: number[]): string {
  const runs: number[][] = [];
  for (const n of which) {
    const last = runs.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(".");
}

/** Which of some slips a part of an address names; null where it is unreadable. */
export function fromRuns(text: string, count: number): number[] | null {
  if (!/^[\d.-]{1,4000}$/.test(text)) return null;
  const runs = text.split(".").map((run) => run.split("-").map(Number));
  return Array.from({ length: count }, (_, i) => i + 1).filter((n) => runs.some(([a, b = a]) => a <= n && n <= b));
}
