/** Equality of states and of their parts, as JSON writes them. */

export const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);
