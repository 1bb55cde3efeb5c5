// Pieces that trees are drawn of, whichever way they go: text that is measured, badges, and what labels say.

import { shape } from "./dom.js";
import { explain } from "./glossary.js";
import { SURE, percent } from "./scale.js";

const FONT = '"Inter", "Segoe UI", Roboto, "Helvetica Neue", Arial, system-ui, sans-serif';
export const FORM = 17;
export const SMALL = 11.5;
export const LABEL = 12.5;
export const MARGIN = 26;

const pen = document.createElement("canvas").getContext("2d");

/** How wide a text is in this size. */
export function width(text, size, weight = 500) {
  pen.font = `${weight} ${size}px ${FONT}`;
  return Math.ceil(pen.measureText(text).width);
}

/** A text whose middle is at `x`. */
export function text(name, x, y, content) {
  return shape("text", { class: name, x, y }, content);
}

export function drawBadge(x, y, token) {
  return [
    shape("circle", { class: "badge", cx: x, cy: y, r: 7.5 }),
    text("badge-text", x, y + 4, token.fixed ? "✓" : "?"),
  ];
}

/**
 * How wide a label is with what stands beside it: a badge before it where it is asked about, and after it the
 * probability of the relation where that is not sure.
 */
export function labelOf(token, isAsked) {
  const doubt = token.deprel_prob < SURE ? percent(token.deprel_prob) : "";
  const [before, after] = [isAsked ? 16 : 0, doubt ? width(doubt, SMALL, 600) + 4 : 0];
  const wide = width(token.deprel, LABEL) + 12;
  return { doubt, before, wide, after, whole: before + wide + after };
}

/** The probability of a head that is not sure, else an empty text. */
export function doubtOf(token) {
  return token.prob < SURE && !token.fixed ? percent(token.prob) : "";
}

/** What pointing at an arc says: its words, its relation and what that means. */
export function arcTitle(token, tokens) {
  const head = token.head === 0 ? "root" : tokens[token.head - 1].form;
  const says = `${head} → ${token.form} ${percent(token.prob)}, ${token.deprel} ${percent(token.deprel_prob)}`;
  const meaning = explain(token.deprel);
  return shape("title", {}, [token.fixed ? `${says}, fixed` : says, meaning].filter(Boolean).join("\n"));
}

/** The other heads that a word might have, the nearest first. */
export function otherHeads(token) {
  const others = token.heads.filter((other) => other.head !== token.head && other.prob >= 0.005);
  return others.sort((one, two) => Math.abs(one.head - token.id) - Math.abs(two.head - token.id));
}
