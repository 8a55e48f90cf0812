/** Texts with words filled in. */

/** Return a text with its {names} filled in; a name without a value stays as it is. */
export const fill = (template: string, values: Record<string, unknown>): string =>
  template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
