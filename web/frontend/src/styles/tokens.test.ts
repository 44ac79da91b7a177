/* Computes the contrast of the colours, so that a change of one cannot make the page unreadable. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync("src/styles/tokens.css", "utf-8");

type Colours = Record<string, string>;

/** The colours of the n-th block that defines them, for a light or dark system. */
function coloursOf(block: string, side: 0 | 1): Colours {
  const pairs = [...block.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];
  return Object.fromEntries(pairs.map((pair) => [pair[1], pair[2 + side]!]));
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS = ["text", "text-soft", "accent", "good", "bad", "warn"];
const BACKGROUNDS = ["bg", "bg-raised", "bg-sunken", "code-bg"];
const MARKED = ["added-bg", "removed-bg", "added-mark", "removed-mark", "accent-bg", "warn-bg", "bad-bg"];

const plain = css.slice(0, css.indexOf("@media"));
const media = css.slice(css.indexOf("@media"), css.indexOf(':root[data-theme="contrast"]'));
const chosen = css.slice(css.indexOf(':root[data-theme="contrast"]'));

describe.each([
  ["light", coloursOf(plain, 0), 4.5],
  ["dark", coloursOf(plain, 1), 4.5],
  ["light with high contrast", coloursOf(chosen, 0), 7],
  ["dark with high contrast", coloursOf(chosen, 1), 7],
])("%s", (_, colours, least) => {
  const pairs = [
    ...TEXTS.flatMap((text) => BACKGROUNDS.map((background) => [text, background])),
    ...MARKED.map((background) => ["text", background]),
    ["warn", "warn-bg"],
    ["bad", "bad-bg"],
    ["accent-text", "accent"],
  ];
  it.each(pairs)("%s can be read on %s", (text, background) => {
    expect(contrast(colours[text!]!, colours[background!]!)).toBeGreaterThanOrEqual(least);
  });

  it("the border of a control can be seen", () => {
    expect(contrast(colours["border-strong"]!, colours.bg!)).toBeGreaterThanOrEqual(3);
  });
});

it("high contrast is the same whether the system or the user wants it", () => {
  for (const side of [0, 1] as const) expect(coloursOf(media, side)).toEqual(coloursOf(chosen, side));
});
