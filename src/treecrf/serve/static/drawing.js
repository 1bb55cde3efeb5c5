// A tree as SVG, from left to right: words, and arcs above them in the colour and line of their probability.

import { shape } from "./dom.js";
import { layOut } from "./layout.js";
import {
  FORM,
  LABEL,
  MARGIN,
  SMALL,
  arcTitle,
  doubtOf,
  drawBadge,
  labelOf,
  otherHeads,
  text,
  width,
} from "./marks.js";
import { certainty, percent } from "./scale.js";

const ROOT = 62; // for the symbol that words are hung on to make them the root
const LEVEL = 28; // from one level of arcs to the next: a label has room between them
const FOOT = 12; // from the words up to where level 0 would be
const RADIUS = 14;
const BRACKET = 36; // below the words, for multiword tokens
const LEFTWARD = /^[^\p{L}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/**
 * The picture of a tree. `tokens` have id, form, upos, head, deprel, prob, deprel_prob and fixed; `asked` are
 * the ids of words to be marked, `askedHeads` and `askedRelations` what is asked about them. With `target`
 * there is a root symbol beside the words; `multiwords` are bracketed below them. Returns the picture and its
 * parts: `words` and `arcs` by id, the `places` of words along the line, and `drawOthers`.
 */
export function draw(
  tokens,
  { asked = new Set(), askedHeads = asked, askedRelations = new Set(), target = true, multiwords = [] } = {},
) {
  const doubts = tokens.map(doubtOf);
  const labels = tokens.map((token) => {
    return labelOf(token, askedRelations.has(token.id)).whole + (token.fixed ? 8 : -2);
  });
  const widths = tokens.map((token, index) =>
    Math.max(
      width(token.form, FORM),
      width(token.upos ?? "", SMALL),
      width(doubts[index], SMALL, 600),
      token.head === 0 ? labels[index] : 0,
      asked.has(token.id) ? width(token.form, FORM) + 14 : 0,
      22,
    ),
  );
  const forms = tokens.map((token) => token.form);
  const mirrored = forms.filter((form) => LEFTWARD.test(form)).length * 2 > forms.length;
  const heads = tokens.map((token) => token.head);
  const layout = layOut(heads, { widths, labels, mirrored });
  const levels = Math.max(1, ...layout.arcs.map((arc) => arc.level));
  const left = MARGIN + (target && !mirrored ? ROOT : 0);
  const places = layout.words.map((place) => left + place);
  const ground = MARGIN + LABEL + levels * LEVEL + FOOT;
  const foot = ground + 22 + (tokens.some((token) => token.upos) ? 17 : 0) + 17;
  const size = {
    width: left + layout.width + MARGIN + (target && mirrored ? ROOT : 0),
    height: foot + (multiwords.length ? BRACKET : 0) + MARGIN - 8,
  };
  const picture = shape("svg", {
    class: "treecrf-tree",
    viewBox: `0 0 ${size.width} ${size.height}`,
    width: size.width,
    height: size.height,
  });
  const drawing = { picture, ground, places, size, isDown: false, words: new Map(), arcs: new Map() };
  drawing.drawOthers = (token) => drawOthers(drawing, token);
  const lines = shape("g", { class: "arcs", "aria-hidden": "true" });
  for (const arc of layout.arcs) {
    const moved = { ...arc, start: arc.start + left, end: arc.end + left, label: arc.label + left };
    const drawn = drawArc(moved, tokens, { ground, asked: askedRelations.has(arc.dependent) });
    drawing.arcs.set(arc.dependent, drawn);
    lines.append(drawn);
  }
  drawing.others = shape("g", { class: "others", "aria-hidden": "true" });
  const row = shape("g", { class: "words" });
  if (target) {
    const middle = mirrored ? size.width - MARGIN - ROOT / 2 + 8 : MARGIN + ROOT / 2 - 8;
    drawing.rootPlace = middle;
    drawing.words.set(0, drawRoot(middle, ground));
    row.append(drawing.words.get(0));
  }
  tokens.forEach((token, index) => {
    const word = drawWord(token, places[index], {
      ground,
      width: widths[index],
      doubt: doubts[index],
      asked: asked.has(token.id),
      badge: askedHeads.has(token.id),
    });
    drawing.words.set(token.id, word);
    row.append(word);
  });
  const brackets = multiwords.map(({ first, last, form }) => {
    const [before, after] = mirrored ? [last, first] : [first, last];
    const start = places[before - 1] - widths[before - 1] / 2;
    return drawBracket(start, places[after - 1] + widths[after - 1] / 2, { foot, form });
  });
  picture.append(lines, drawing.others, row, shape("g", { class: "multiwords", "aria-hidden": "true" }, ...brackets));
  return drawing;
}

/** A multiword token: a line below its words, and how it is written. */
function drawBracket(start, end, { foot, form }) {
  return shape(
    "g",
    { class: "multiword" },
    shape("title", {}, `${form}: one token of several words`),
    shape("path", { class: "bracket", d: `M ${start} ${foot + 10} v 6 H ${end} v -6` }),
    text("written", (start + end) / 2, foot + 31, form),
  );
}

function drawWord(token, place, { ground, width: wide, doubt, asked, badge }) {
  const half = wide / 2 + 7;
  const word = shape("g", { class: `word${asked ? " asked" : ""}`, "data-id": token.id });
  const height = 26 + (token.upos ? 17 : 0) + 20;
  word.append(
    shape("rect", { class: "box", x: place - half, y: ground + 2, width: 2 * half, height, rx: 7 }),
    text("form", place, ground + 21, token.form),
  );
  let bottom = ground + 21;
  if (token.upos) word.append(text("tag", place, (bottom += 17), token.upos));
  if (doubt) word.append(text(`prob ${certainty(token.prob)}`, place, (bottom += 17), doubt));
  if (badge) word.append(...drawBadge(place + half - 3, ground + 4, token));
  return word;
}

function drawRoot(place, ground) {
  return shape(
    "g",
    { class: "word root", "data-id": 0 },
    shape("rect", { class: "box", x: place - 26, y: ground + 2, width: 52, height: 28, rx: 14 }),
    text("form", place, ground + 20.5, "ROOT"),
  );
}

function path({ start, end, head }, top, ground) {
  if (head === 0) return `M ${end} ${top} V ${ground - 8}`;
  const radius = Math.min(RADIUS, Math.abs(end - start) / 2);
  const turn = start < end ? radius : -radius;
  return (
    `M ${start} ${ground - 1} V ${top + radius} Q ${start} ${top} ${start + turn} ${top} ` +
    `H ${end - turn} Q ${end} ${top} ${end} ${top + radius} V ${ground - 8}`
  );
}

function drawArc(arc, tokens, { ground, asked }) {
  const token = tokens[arc.dependent - 1];
  const top = ground - FOOT - arc.level * LEVEL;
  const { doubt, before, wide, after, whole } = labelOf(token, asked);
  const left = arc.label - whole / 2 + before;
  return shape(
    "g",
    { class: `arc ${certainty(token.prob)}${token.fixed ? " fixed" : ""}` },
    arcTitle(token, tokens),
    shape("path", { class: "line", d: path(arc, top, ground) }),
    shape("path", { class: "tip", d: `M ${arc.end} ${ground} l -4.5 -9 h 9 z` }),
    shape(
      "g",
      { class: `label ${certainty(token.deprel_prob)}${asked ? " asked" : ""}`, "data-dependent": token.id },
      shape("rect", { x: left, y: top - 19, width: wide, height: 17, rx: 8.5 }),
      text("", left + wide / 2, top - 6, token.deprel),
    ),
    doubt ? text(`prob beside ${certainty(token.deprel_prob)}`, left + wide + after / 2, top - 6, doubt) : null,
    ...(asked ? drawBadge(left - 9, top - 10.5, token) : []),
  );
}

/** The other heads that a word might have, as arcs over the faded tree. */
function drawOthers(drawing, token) {
  const end = drawing.places[token.id - 1];
  const sorted = otherHeads(token);
  const room = (drawing.ground - FOOT - MARGIN - LABEL) / Math.max(1, sorted.length);
  const step = Math.min(LEVEL, room);
  const marks = sorted.map((other, index) => {
    const start = other.head === 0 ? end : drawing.places[other.head - 1];
    const top = other.head === 0 ? MARGIN : drawing.ground - FOOT - (index + 1) * step;
    const middle = other.head === 0 ? end + 20 : (start + end) / 2;
    const arc = { start, end, head: other.head };
    return shape(
      "g",
      { class: `other ${certainty(other.prob)}` },
      shape("path", { class: "line", d: path(arc, top, drawing.ground) }),
      shape("path", { class: "tip", d: `M ${end} ${drawing.ground} l -4 -8 h 8 z` }),
      text("share", middle, top + (other.head === 0 ? 12 : 4), percent(other.prob)),
    );
  });
  drawing.others.replaceChildren(...marks);
}
