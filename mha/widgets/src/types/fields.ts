/** The types of fields, sliders and choices. */

/** Which numbers a field takes. */
export interface Wanted {
  least?: number;
  most?: number;
  whole?: boolean;
  positive?: boolean;
}

/** A field for a number. */
export interface NumberField {
  node: HTMLElement;
  input: HTMLInputElement;
  step(by: number): void;
  set(value: number): void;
}

/** A slider with its name and its text. */
export interface SliderWithName {
  node: HTMLElement;
  input: HTMLInputElement;
  name: HTMLElement;
  show(value: number, text: string): void;
}

/** The sentence below a field whose text is refused. */
export interface Complaint {
  say(field: HTMLElement, sentence: string): void;
  clear(): void;
}

/** A radio button or a checkbox with its label. */
export interface Choice {
  node: HTMLElement;
  input: HTMLInputElement;
  word: HTMLElement;
}
