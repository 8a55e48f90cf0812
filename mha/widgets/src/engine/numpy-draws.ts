/**
 * The normal numbers that NumPy's `default_rng(seed)` draws, one by one: a port of its SeedSequence, of
 * PCG64 and of the ziggurat (https://numpy.org/doc/stable/reference/random/). A chapter's runs begin
 * with NumPy's numbers, so a page that repeats a run from any seed needs the same numbers.
 */

const [WORD, LONG, WIDE] = [32n, (1n << 64n) - 1n, (1n << 128n) - 1n];
const MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645n;

/** How a word of 32 bits is mixed into others; each word with the next constant. */
const hashing = (constant: number, by: number): (word: number) => number => (word) => {
  const mixed = word ^ constant;
  constant = Math.imul(constant, by);
  const found = Math.imul(mixed, constant);
  return found ^ (found >>> 16);
};

function mixed(left: number, right: number): number {
  const found = Math.imul(0xca01f9dd, left) - Math.imul(0x4973f715, right);
  return found ^ (found >>> 16);
}

/** Four numbers of 64 bits that a seed gives. */
function spread(seed: number): bigint[] {
  const hash = hashing(0x43b0d7e5, 0x931e8875);
  const pool = [seed % 2 ** 32, Math.floor(seed / 2 ** 32), 0, 0].map(hash);
  pool.forEach((_from, i) => pool.forEach((_to, j) => {
    if (i !== j) pool[j] = mixed(pool[j], hash(pool[i]));
  }));
  const words = [...pool, ...pool].map(hashing(0x8b51f9dd, 0x58f38ded)).map((word) => BigInt(word >>> 0));
  return [0, 2, 4, 6].map((i) => words[i] | (words[i + 1] << WORD));
}

// The ziggurat of the normal distribution: 256 layers of one area under exp(-x²/2), the lowest with
// the tail beyond END. Of each layer how wide it is, which numbers need no second look, its height.
const [END, AREA, FINEST] = [3.6541528853610088, 0.004928673233974655, 2 ** 52];
const [widths, sure, heights] = [new Float64Array(256), new Float64Array(256), new Float64Array(256)];
const height = (x: number) => Math.exp(-0.5 * x * x);
let edge = END;
for (let i = 255; i > 0; i -= 1) {
  widths[i] = edge / FINEST;
  heights[i] = height(edge);
  const above = Math.sqrt(-2 * Math.log(AREA / edge + heights[i]));
  if (i > 1) sure[i] = Math.floor((above / edge) * FINEST);
  edge = above;
}
widths[0] = AREA / height(END) / FINEST;
sure[0] = Math.floor((END * height(END) * FINEST) / AREA);
heights[0] = 1;

export class NumpyDraws {
  step: bigint;
  state: bigint;

  /** @param seed a whole number of at least 0 */
  constructor(seed: number) {
    const [high, low, otherHigh, otherLow] = spread(seed);
    this.step = (((otherHigh << 64n | otherLow) << 1n) | 1n) & WIDE;
    this.state = (this.step + (high << 64n | low)) & WIDE;
    this.advance();
  }

  advance() {
    this.state = (this.state * MULTIPLIER + this.step) & WIDE;
  }

  /** The next 64 bits. */
  long() {
    this.advance();
    const word = (this.state >> 64n) ^ (this.state & LONG);
    const by = this.state >> 122n;
    return ((word >> by) | (word << (64n - by))) & LONG;
  }

  /** A number of at least 0 and below 1, as `rng.random()`. */
  random() {
    return Number(this.long() >> 11n) * 2 ** -53;
  }

  /** A number of the standard normal distribution, as `rng.normal()`. */
  normal() {
    for (;;) {
      const bits = this.long();
      const layer = Number(bits & 0xffn);
      const size = Number((bits >> 9n) & 0xfffffffffffffn);
      const sign = bits & 0x100n ? -1 : 1;
      const x = size * widths[layer];
      if (size < sure[layer]) return sign * x;
      if (layer === 0) return this.tail() * (bits >> 17n & 1n ? -1 : 1);
      if ((heights[layer - 1] - heights[layer]) * this.random() + heights[layer] < height(x)) return sign * x;
    }
  }

  /** A number beyond the last layer. */
  tail() {
    for (;;) {
      const x = -Math.log1p(-this.random()) / END;
      const y = -Math.log1p(-this.random());
      if (2 * y > x * x) return END + x;
    }
  }
}
