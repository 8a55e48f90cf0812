/* The box in which a reader computes one number: checking, hints, and new numbers.

   The arithmetic repeats a few functions of mha.exercises and mha.rounding, so that new numbers can
   be drawn here; the tests compare the two. The page holds the operands, never the answer. */
(function () {
  "use strict";
  const strings = window.mhaStrings.exercises;
  const fill = window.mhaProgress.fill;

  /* ---- Numbers as text, by the book's rounding rule ---- */

  /** Return a number with fixed decimals; an exact tie goes to the even digit, as in Python. */
  function fixed(value, places) {
    const size = Math.abs(value);
    const exact = size.toFixed(60);
    const end = exact.length - 60 + places;
    const isTie = /^50*$/.test(exact.slice(end)) && "02468".includes(lastDigit(exact.slice(0, end)));
    const text = isTie ? exact.slice(0, end).replace(/\.$/, "") : size.toFixed(places);
    return (value < 0 && Number(text) !== 0 ? "-" : "") + text;
  }

  function lastDigit(text) {
    return text.replace(".", "").slice(-1);
  }

  function shown(value, places = 4) {
    if (value === -Infinity) {
      return "−∞";
    }
    return fixed(value, places).replace("-", "−");
  }

  /** Return a number without trailing zeros where it is exact to the decimals shown. */
  function short(value, places = 4) {
    const text = shown(value, places);
    const off = Math.abs(value - Number(fixed(value, places)));
    const exact = off <= 1e-14 * Math.max(1, Math.abs(value));
    return exact && text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  }

  function factor(value) {
    const text = short(value);
    return text.startsWith("−") ? "(" + text + ")" : text;
  }

  function listed(values, places) {
    const texts = values.map(function (value) { return short(value, places); });
    return texts.length === 1 ? texts[0] : "(" + texts.join(", ") + ")";
  }

  /* ---- The calculations ---- */

  function sum(values) {
    return values.reduce(function (total, value) { return total + value; }, 0);
  }

  function products(givens) {
    return givens[0].map(function (left, i) { return left * givens[1][i]; });
  }

  const formulas = {
    products: function (givens) { return sum(products(givens)); },
    root: function (givens) { return givens[0][0] / Math.sqrt(givens[1][0]); },
    times: function (givens) { return givens[0][0] * givens[1][0]; },
    power: function (givens) { return Math.exp(givens[0][0]); },
    sum: function (givens) { return sum(givens[0]); },
    share: function (givens, column) {
      const powers = givens[0].map(Math.exp);
      return powers[column] / sum(powers);
    },
  };

  function value(task) {
    return formulas[task.kind](task.givens, task.column);
  }

  /** Return the number to enter. */
  function asked(task) {
    return task.percent ? 100 * value(task) : value(task);
  }

  /** Return what the hints and the worked answer are filled with. */
  const fields = {
    products: function (givens) {
      return {
        expression: givens[0]
          .map(function (left, i) { return factor(left) + "×" + factor(givens[1][i]); })
          .join(" + "),
        products: products(givens).map(factor).join(" + "),
      };
    },
    root: function (givens) {
      const width = givens[1][0];
      return { score: short(givens[0][0]), d_k: short(width), root: short(Math.sqrt(width)) };
    },
    times: function (givens) {
      return { score: factor(givens[0][0]), scale: short(givens[1][0]) };
    },
    power: function (givens) {
      const low = Math.floor(givens[0][0]);
      return {
        e: shown(Math.E),
        low: short(low),
        low_power: short(Math.exp(low)),
        high: short(low + 1),
        high_power: short(Math.exp(low + 1)),
      };
    },
    sum: function (givens) {
      const last = givens[0].length - 1;
      return { partial: shown(sum(givens[0].slice(0, last))), last: shown(givens[0][last]) };
    },
    share: function (givens, column) {
      const powers = givens[0].map(Math.exp);
      return {
        exponentials: powers.map(function (power) { return shown(power); }).join(", "),
        sum: shown(sum(powers)),
        top: shown(powers[column]),
      };
    },
  };

  function hints(task) {
    const values = fields[task.kind](task.givens, task.column);
    return task.hints.map(function (hint) { return fill(hint, values); });
  }

  /** Return the whole calculation on one line. */
  function worked(task) {
    const result = value(task);
    const first = task.givens[0];
    const at = fields[task.kind](task.givens, task.column);
    const lines = {
      products: [at.expression, at.products, short(result)],
      root: [at.score + " ÷ √" + at.d_k, short(result)],
      times: [short(first[0]) + " × " + at.scale, short(result)],
      power: ["e^" + short(first[0]), shown(result)],
      sum: [first.map(function (term) { return shown(term); }).join(" + "), shown(result)],
      share: [at.top + " ÷ " + at.sum, shown(result)],
    };
    const percent = task.percent ? [shown(100 * result, task.places) + "\u00a0%"] : [];
    return lines[task.kind].concat(percent).join(" = ");
  }

  /* ---- Checking ---- */

  const NUMBER = "[+-]?(?:\\d+(?:[.,]\\d*)?|[.,]\\d+)";
  const ANSWER = new RegExp("^(" + NUMBER + ")(?:/(" + NUMBER + "))?(%?)$");

  /** Return the number entered and its decimals, or null if there is none. */
  function parse(text, percent) {
    const match = ANSWER.exec(text.replace(/\s/g, "").replace(/−/g, "-"));
    if (!match) {
      return null;
    }
    const top = Number(match[1].replace(",", "."));
    const bottom = match[2] === undefined ? 1 : Number(match[2].replace(",", "."));
    // A sign says percent; where percent is asked for, a bare number is one.
    const number = top / bottom / (match[3] && !percent ? 100 : 1);
    const point = match[1].search(/[.,]/);
    const decimals = match[2] !== undefined || point < 0 ? 0 : match[1].length - point - 1;
    return bottom !== 0 && Number.isFinite(number) ? { number: number, decimals: decimals } : null;
  }

  function halfUnit(places) {
    return 0.5 * Math.pow(10, -places) * (1 + 1e-9);
  }

  /** Say how an entered answer stands to a task's: right, near, wrong or unreadable. */
  function verdict(task, text) {
    const entered = parse(text, task.percent);
    if (!entered) {
      return "unreadable";
    }
    const wanted = asked(task);
    const unit = Math.pow(10, -task.places);
    const distance = Math.abs(entered.number - wanted);
    if (distance <= halfUnit(task.places)) {
      return "right";
    }
    const needsRounding = Math.abs(wanted - Number(fixed(wanted, task.places))) > 1e-9 * unit;
    const fewer = entered.decimals > 0 && entered.decimals < task.places;
    const roundedTooMuch = fewer && distance <= halfUnit(entered.decimals);
    return needsRounding && (distance <= 2 * unit || roundedTooMuch) ? "near" : "wrong";
  }

  /* ---- New numbers ---- */

  /** Return a generator of numbers from 0 to 1 that a seed decides (mulberry32). */
  function generator(seed) {
    let state = seed >>> 0;
    return function () {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** Return a seed for the count-th set of a box's numbers. */
  function seedOf(name, count) {
    let seed = 2166136261;
    for (const character of name + " " + count) {
      seed = Math.imul(seed ^ character.codePointAt(0), 16777619);
    }
    return seed >>> 0;
  }

  /** Return a function that draws a whole number from low to high. */
  function between(random) {
    return function (low, high) { return low + Math.floor(random() * (high - low + 1)); };
  }

  /* Each draws one operand anew: as many numbers as there were, short enough for paper. */
  const draws = {
    same: function (old) { return old; },
    whole: function (old, pick) { return old.map(function () { return pick(-3, 3); }); },
    tenths: function (old, pick) { return old.map(function () { return pick(-9, 9) / 10; }); },
    scores: function (old, pick) {
      return old.map(function () { return (pick(0, 1) ? 1 : -1) * pick(1, 80) / 10; });
    },
    exponentials: function (old, pick) {
      return old.map(function (term) { return term === 0 ? 0 : pick(10, 800) / 100; });
    },
    exponents: function (old, pick) {
      const left = Array.from({ length: 41 }, function (_, i) { return (i - 20) / 10; });
      return old.map(function (exponent) {
        return exponent === -Infinity ? exponent : left.splice(pick(0, left.length - 1), 1)[0];
      });
    },
    shares: function (old, pick) {
      const parts = old.map(function () { return pick(1, 20); });
      const whole = sum(parts);
      const shares = parts.map(function (part) { return Math.floor(100 * part / whole); });
      shares[0] += 100 - sum(shares);
      return shares.map(function (share) { return share / 100; });
    },
  };

  /** Return a task of the same kind with numbers that a seed decides. */
  function fresh(task, seed) {
    const pick = between(generator(seed));
    let givens;
    do {
      givens = task.givens.map(function (old, i) { return draws[task.draw[i]](old, pick); });
    } while (task.kind === "products" && saysNothing(givens));
    return Object.assign({}, task, { givens: givens });
  }

  /** Tell whether a sum has fewer than two terms that count, or only one term and that is 0. */
  function saysNothing(givens) {
    const terms = products(givens);
    const counting = terms.filter(function (term) { return term !== 0; });
    return counting.length < Math.min(2, terms.length);
  }

  window.mhaYourTurn = {
    asked: asked,
    fresh: fresh,
    hints: hints,
    seedOf: seedOf,
    short: short,
    shown: shown,
    verdict: verdict,
    worked: worked,
  };

  /* ---- The element ---- */

  /** Put text into an element, with ^ as a raised exponent. */
  function setRich(element, text) {
    element.replaceChildren();
    text.split(/\^([^\s,]+)/).forEach(function (part, i) {
      const raised = i % 2 === 1;
      const node = raised ? document.createElement("sup") : document.createTextNode(part);
      if (raised) {
        node.textContent = part;
      }
      element.append(node);
    });
  }

  function readTask(element) {
    const task = JSON.parse(element.querySelector("script").textContent);
    task.givens = task.givens.map(function (values) {
      return values.map(function (number) { return number === null ? -Infinity : number; });
    });
    return task;
  }

  class YourTurn extends HTMLElement {
    connectedCallback() {
      this.original = this.task = readTask(this);
      this.count = 0; // sets of new numbers so far
      this.find("form").addEventListener("submit", this.check.bind(this));
      this.find(".your-turn-hint").addEventListener("click", this.hint.bind(this));
      if (this.task.draw) {
        this.find(".your-turn-fresh").addEventListener("click", this.renew.bind(this));
      }
      this.showDone();
    }

    find(selector) {
      return this.querySelector(selector);
    }

    say(text, verdictName) {
      const feedback = this.find(".your-turn-feedback");
      feedback.dataset.verdict = verdictName;
      feedback.textContent = text;
    }

    check(event) {
      event.preventDefault();
      const field = this.find("input");
      const found = field.value.trim() === "" ? "empty" : verdict(this.task, field.value);
      const isNumber = found !== "empty" && found !== "unreadable";
      field.setAttribute("aria-invalid", String(!isNumber));
      this.say(
        fill(strings[found], { answer: this.answer(), rounding: this.rounding() }),
        found
      );
      if (found === "right") {
        window.mhaProgress.setRight(this.id);
        this.showDone();
      }
    }

    answer() {
      const text = short(asked(this.task), Math.max(4, this.task.places));
      return this.task.percent ? text + "\u00a0%" : text;
    }

    rounding() {
      return this.find(".your-turn-rounding").textContent;
    }

    hint() {
      const list = this.find(".your-turn-hints");
      const all = hints(this.task);
      if (list.children.length === all.length) {
        this.say(strings.noMoreHints, "note");
        return;
      }
      const item = document.createElement("li");
      setRich(item, all[list.children.length]);
      list.append(item);
    }

    renew() {
      this.count += 1;
      this.task = fresh(this.original, seedOf(this.id, this.count));
      const task = this.task;
      this.querySelectorAll(".your-turn-given").forEach(function (span, i) {
        span.textContent = listed(task.givens[i], task.shownPlaces);
      });
      this.find(".your-turn-hints").replaceChildren();
      this.find("details").open = false;
      setRich(this.find(".your-turn-worked p"), worked(task));
      this.find("input").value = "";
      this.find("input").removeAttribute("aria-invalid");
      this.say(fill(strings.fresh, { count: this.count }), "note");
    }

    showDone() {
      const isDone = window.mhaProgress.isRight(this.id);
      this.find(".reading-done").textContent = isDone ? strings.done : "";
    }
  }

  customElements.define("mha-your-turn", YourTurn);
  document.addEventListener("mha-progress-cleared", function () {
    document.querySelectorAll("mha-your-turn").forEach(function (box) { box.showDone(); });
  });
})();
