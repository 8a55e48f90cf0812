"""A check of the sums in a page's strips."""

import chains

# Each sum as a line: the terms, the sign, the total.
SUMS = """() => [...document.querySelectorAll(".strip")].flatMap((strip) => {
  const all = (selector) => [...strip.querySelectorAll(selector)];
  const line = (terms, sign, total) => {
    const texts = terms.map((e) => e.textContent.replace(/^−.*/, "($&)"));
    return `${texts.join(" + ")} ${sign.textContent} ${total.textContent}`;
  };
  const [total, end] = [".sums .result.chosen", ".outcome .result.chosen"].map((s) => all(s)[0]);
  return [
    line(all(".key .at-exponentials .number"), all(".sums .at-scaled_scores .sign")[0],
      all(".sums .at-exponentials .number")[0]),
    line(all(".key .at-part .number"), total.previousElementSibling, total),
    ...(end ? [line(all(".outcome .of-head:not(.off)"), end.previousElementSibling, end)] : []),
  ];
})"""


def sums_hold(page):
    """Assert that the sums in a page's strips hold as printed, and return their lines."""
    lines = page.evaluate(SUMS)
    assert [len(chains.hold(line, is_column=True)) for line in lines] == [1] * len(lines), lines
    return lines
