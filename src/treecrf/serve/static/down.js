// A tree as SVG, from top to bottom: a word a line, arcs on its left, its tag and its relation on its right.

import { shape } from "./dom.js";
import { arcsOf, portsOf } from "./layout.js";
import {
  FORM,
  LABEL,
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

const MARGIN = 12;
const ROW = 30;
const PORT = 6; // from one port to the next: a word with many arcs has a higher row
const LEVEL = { most: 16, least: 6 }; // from one level of arcs to the next
const FOOT = 10; // from the words to where level 0 would be
const RADIUS = 8;
const GAP = 10; // from one column to the next
const WIDEST = 180; // of a column of words: longer ones push what follows them

/**
 * The picture of a tree as `draw` makes it, with the same options, in `room` pixels where they suffice: the
 * levels of arcs move together.
 */
export function drawDown(
  tokens,
  {
    asked = new Set(),
    askedHeads = asked,
    askedRelations = new Set(),
    target = true,
    multiwords = [],
    room = Infinity,
  } = {},
) {
  const top = MARGIN + (target ? ROW : 0);
  const heads = tokens.map((token) => token.head);
  const ports = portsOf(heads);
  const { places, bottom } = rowsOf(ports, top);
  const arcs = arcsOf(heads, placedPorts(ports, places));
  const levels = Math.max(1, ...arcs.map((arc) => arc.level));
  const lines = columnsOf(tokens, { askedRelations, multiwords });
  const free = room - 2 * MARGIN - FOOT - lines.width;
  const step = Math.min(Math.max(free / (levels + 0.5), LEVEL.least), LEVEL.most);
  const edge = MARGIN + FOOT + Math.ceil((levels + 0.5) * step); // where the words begin
  const size = { width: edge + lines.width + MARGIN, height: bottom + MARGIN };
  const picture = shape("svg", {
    class: "treecrf-tree down",
    viewBox: `0 0 ${size.width} ${size.height}`,
    width: size.width,
    height: size.height,
  });
  const drawing = { picture, places, size, isDown: true, words: new Map(), arcs: new Map() };
  const arcGroup = shape("g", { class: "arcs", "aria-hidden": "true" });
  for (const arc of arcs) {
    const token = tokens[arc.dependent - 1];
    const x = edge - FOOT - arc.level * step;
    const label = { x: edge + lines.rows[token.id - 1].label, isAsked: askedRelations.has(token.id) };
    const drawn = drawArc(arc, tokens, { x, edge, label, y: places[token.id - 1] });
    drawing.arcs.set(token.id, drawn);
    arcGroup.append(drawn);
  }
  drawing.others = shape("g", { class: "others", "aria-hidden": "true" });
  drawing.drawOthers = (token) => drawOthers(drawing, token, { edge, levels, step });
  const words = shape("g", { class: "words" });
  if (target) {
    drawing.rootPlace = MARGIN + ROW / 2;
    drawing.words.set(0, drawRoot(edge, drawing.rootPlace));
    words.append(drawing.words.get(0));
  }
  tokens.forEach((token, index) => {
    const row = { ...lines.rows[index], left: edge, y: places[index] };
    const drawn = drawWord(token, row, { isAsked: asked.has(token.id), hasBadge: askedHeads.has(token.id) });
    drawing.words.set(token.id, drawn);
    words.append(drawn);
  });
  const brackets = multiwords.map((each) => drawBracket(each, { x: edge + lines.brackets, places }));
  const last = shape("g", { class: "multiwords", "aria-hidden": "true" }, ...brackets);
  picture.append(arcGroup, drawing.others, words, last);
  return drawing;
}

/** The middle of each row, and where the last one ends. */
function rowsOf(ports, top) {
  let bottom = top;
  const places = ports.map((row) => {
    const height = Math.max(ROW, PORT * (row.length + 1));
    bottom += height;
    return bottom - height / 2;
  });
  return { places, bottom };
}

function placedPorts(ports, places) {
  return ports.flatMap((row, index) =>
    row.map((port, place) => ({ ...port, place: places[index] + (place - (row.length - 1) / 2) * PORT })),
  );
}

/** Where the columns are, from the edge of the words: of each row `form`, `doubt`, `tag`, `box` and `label`. */
function columnsOf(tokens, { askedRelations, multiwords }) {
  const forms = tokens.map((token) => width(token.form, FORM));
  const doubts = tokens.map((token) => width(doubtOf(token), SMALL, 600));
  const tags = tokens.map((token) => width(token.upos ?? "", SMALL));
  const labels = tokens.map((token) => labelOf(token, askedRelations.has(token.id)).whole);
  const column = Math.max(...forms.filter((form) => form <= WIDEST), 22);
  const [doubtColumn, tagColumn] = [doubts, tags].map((widths) => Math.max(...widths));
  const rows = forms.map((form, index) => {
    const afterForm = GAP - 2 + Math.max(column, form) + GAP;
    const afterDoubt = afterForm + (doubtColumn ? doubtColumn + GAP : 0);
    const afterTag = afterDoubt + (tagColumn ? tagColumn + GAP : 0);
    return {
      form: GAP - 2 + form / 2,
      doubt: afterForm + doubts[index] / 2,
      tag: afterDoubt + tags[index] / 2,
      box: afterTag - 2,
      label: afterTag + 4,
    };
  });
  const brackets = Math.max(...rows.map((row, index) => row.label + labels[index])) + GAP;
  const written = Math.max(0, ...multiwords.map(({ form }) => width(form, LABEL) + GAP + 4));
  return { rows, brackets, width: brackets + written };
}

function drawRoot(edge, y) {
  return shape(
    "g",
    { class: "word root", "data-id": 0 },
    shape("rect", { class: "box", x: edge, y: y - 13, width: 54, height: 26, rx: 13 }),
    text("form", edge + 27, y + 4, "ROOT"),
  );
}

function drawWord(token, row, { isAsked, hasBadge }) {
  const { left, y } = row;
  const doubt = doubtOf(token);
  const rect = { class: "box", x: left, y: y - ROW / 2 + 1.5, width: row.box, height: ROW - 3, rx: 7 };
  return shape(
    "g",
    { class: `word${isAsked ? " asked" : ""}`, "data-id": token.id },
    shape("rect", rect),
    text("form", left + row.form, y + 6, token.form),
    doubt ? text(`prob ${certainty(token.prob)}`, left + row.doubt, y + 5, doubt) : null,
    token.upos ? text("tag", left + row.tag, y + 5, token.upos) : null,
    ...(hasBadge ? drawBadge(left + row.box - 2, y - 9, token) : []),
  );
}

function path({ start, end, head }, x, edge) {
  if (head === 0) return `M ${x} ${end} H ${edge - 8}`;
  const radius = Math.min(RADIUS, Math.abs(end - start) / 2);
  const turn = start < end ? radius : -radius;
  return (
    `M ${edge - 1} ${start} H ${x + radius} Q ${x} ${start} ${x} ${start + turn} ` +
    `V ${end - turn} Q ${x} ${end} ${x + radius} ${end} H ${edge - 8}`
  );
}

function drawArc(arc, tokens, { x, edge, label, y }) {
  const token = tokens[arc.dependent - 1];
  const { doubt, before, wide, after } = labelOf(token, label.isAsked);
  const left = label.x + before;
  return shape(
    "g",
    { class: `arc ${certainty(token.prob)}${token.fixed ? " fixed" : ""}` },
    arcTitle(token, tokens),
    shape("path", { class: "line", d: path(arc, x, edge) }),
    shape("path", { class: "tip", d: `M ${edge} ${arc.end} l -9 -4.5 v 9 z` }),
    shape(
      "g",
      { class: `label ${certainty(token.deprel_prob)}${label.isAsked ? " asked" : ""}`, "data-dependent": token.id },
      shape("rect", { x: left, y: y - 10, width: wide, height: 20, rx: 10 }),
      text("", left + wide / 2, y + 4.5, token.deprel),
    ),
    doubt
      ? text(`prob beside ${certainty(token.deprel_prob)}`, left + wide + after / 2, y + 4.5, doubt)
      : null,
    ...(label.isAsked ? drawBadge(left - 9, y, token) : []),
  );
}

/** A multiword token: a line beside its words, and how it is written. */
function drawBracket({ first, last, form }, { x, places }) {
  const [start, end] = [places[first - 1] - ROW / 2 + 4, places[last - 1] + ROW / 2 - 4];
  return shape(
    "g",
    { class: "multiword" },
    shape("title", {}, `${form}: one token of several words`),
    shape("path", { class: "bracket", d: `M ${x - 6} ${start} h 6 V ${end} h -6` }),
    text("written", x + GAP - 2 + width(form, LABEL) / 2, (start + end) / 2 + 4.5, form),
  );
}

function drawOthers(drawing, token, { edge, levels, step }) {
  const end = drawing.places[token.id - 1];
  const sorted = otherHeads(token);
  const apart = (levels * step) / Math.max(levels, sorted.length);
  const marks = sorted.map((other, index) => {
    const start = other.head === 0 ? end : drawing.places[other.head - 1];
    const x = edge - FOOT - (other.head === 0 ? levels * step : (index + 1) * apart);
    const middle = other.head === 0 ? [x + 14, end - 6] : [x, (start + end) / 2 + 4];
    return shape(
      "g",
      { class: `other ${certainty(other.prob)}` },
      shape("path", { class: "line", d: path({ start, end, head: other.head }, x, edge) }),
      shape("path", { class: "tip", d: `M ${edge} ${end} l -8 -4 v 8 z` }),
      text("share", ...middle, percent(other.prob)),
    );
  });
  drawing.others.replaceChildren(...marks);
}
