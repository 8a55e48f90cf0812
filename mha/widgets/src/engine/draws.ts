/** Numbers drawn from a seed, a port of mha/runs/random_numbers.py: the same in both, to the last bit. */

const BITS = 2 ** 32;

export class Draws {
  state: number;

  /** @param seed a whole number of 32 bits */
  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 32 bits, as a whole number from 0 on. */
  bits() {
    this.state = (this.state + 0x9e3779b9) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  /** From 0 up to 1, which is left out; the port of `Draws.uniform`. */
  share() {
    return this.bits() / BITS;
  }

  /** A whole number, both bounds included. */
  whole(low: number, high: number) {
    return low + Math.floor((this.bits() * (high - low + 1)) / BITS);
  }

  /** Spread like a normal number, within 6: twelve shares less 6, added without rounding. */
  normal() {
    let total = 0;
    for (let i = 0; i < 12; i += 1) total += this.bits();
    return total / BITS - 6;
  }
}
