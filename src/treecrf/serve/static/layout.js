// Where words and arcs go when a tree is drawn above its words: the layout of the pictures that
// `treecrf parse --format svg` draws, in the same steps (treebank/drawing/layout.py).
//
// An arc leaves and meets words at ports, which stand side by side so that nested arcs nest: arcs to
// the left first, the shortest first, then the root's, then arcs to the right, the longest first.

const PORT = 10; // from one port to the next
const GAP = 20; // from one word to the next, at least

const key = (dependent, atHead) => 2 * dependent + (atHead ? 1 : 0);

/**
 * Places for words that are so wide, whose arcs have labels that are so wide; `heads` has an item a
 * word. Arcs have `head`, `dependent`, `start`, `end`, `label` (its middle) and `level` (from 1).
 */
export function layOut(heads, { widths, labels, mirrored = false }) {
  const ports = portsOf(heads);
  const offsets = new Map();
  for (const row of ports) {
    row.forEach((port, place) => offsets.set(port.key, ((2 * place - row.length + 1) * PORT) / 2));
  }
  const words = [];
  let edge = -GAP;
  ports.forEach((row, index) => {
    const half = Math.ceil(Math.max(widths[index], PORT * row.length) / 2);
    let middle = edge + GAP + half;
    for (const port of row) {
      const other = (port.atHead ? port.dependent : heads[port.dependent - 1]) - 1;
      if (other >= 0 && other < index) {
        const start = words[other] + offsets.get(key(port.dependent, !port.atHead));
        middle = Math.max(middle, start + labels[port.dependent - 1] - offsets.get(port.key));
      }
    }
    words.push(middle);
    edge = middle + half;
  });
  const width = Math.max(edge, 0);
  const places = words.map((word) => (mirrored ? width - word : word));
  const side = mirrored ? -1 : 1;
  const ordered = ports.flatMap((row, index) =>
    row.map((port) => ({ ...port, place: places[index] + side * offsets.get(port.key) })),
  );
  return { words: places, arcs: arcsOf(heads, ordered), width };
}

/** The ports of each word in their order along the line. */
export function portsOf(heads) {
  const rows = heads.map(() => []);
  heads.forEach((head, index) => {
    const dependent = index + 1;
    const ends =
      head === 0
        ? [[dependent, dependent, false]]
        : [
            [dependent, head, false],
            [head, dependent, true],
          ];
    for (const [word, other, atHead] of ends) {
      const side = Math.sign(other - word);
      const rank = [side, -side * Math.abs(other - word), -side * dependent];
      rows[word - 1].push({ dependent, atHead, rank, key: key(dependent, atHead) });
    }
  });
  for (const row of rows) row.sort((one, two) => compare(one.rank, two.rank));
  return rows;
}

function compare(one, two) {
  const place = one.findIndex((value, index) => value !== two[index]);
  return place < 0 ? 0 : one[place] - two[place];
}

/** The arcs between `ports` that have a `place` along the line. */
export function arcsOf(heads, ports) {
  const numbers = new Map(ports.map((port, number) => [port.key, number]));
  const spans = new Map();
  heads.forEach((_, index) => {
    const dependent = index + 1;
    const end = numbers.get(key(dependent, false));
    const start = numbers.get(key(dependent, true)) ?? end;
    spans.set(dependent, [Math.min(start, end), Math.max(start, end)]);
  });
  const levels = levelsOf(heads, spans);
  return heads.map((head, index) => {
    const dependent = index + 1;
    const [first, last] = spans.get(dependent);
    const level = levels.get(dependent);
    const end = ports[numbers.get(key(dependent, false))].place;
    const start = head === 0 ? end : ports[numbers.get(key(dependent, true))].place;
    // The label goes to the middle of the longest part that no other line crosses.
    const crossing = ports
      .slice(first + 1, last)
      .filter((port) => levels.get(port.dependent) > level)
      .map((port) => port.place);
    const stops = [ports[first].place, ...crossing, ports[last].place];
    let best = [stops[0], stops[stops.length - 1]];
    let longest = -1;
    for (let place = 1; place < stops.length; place += 1) {
      const length = Math.abs(stops[place] - stops[place - 1]);
      if (length > longest) [longest, best] = [length, [stops[place - 1], stops[place]]];
    }
    return { head, dependent, start, end, label: (best[0] + best[1]) / 2, level };
  });
}

function levelsOf(heads, spans) {
  const skyline = new Array(2 * heads.length + 1).fill(0);
  const levels = new Map();
  const order = [...spans.keys()].sort(
    (one, two) => Math.abs(heads[one - 1] - one) - Math.abs(heads[two - 1] - two) || one - two,
  );
  for (const dependent of order) {
    if (heads[dependent - 1] === 0) continue;
    const [first, last] = spans.get(dependent);
    const level = 1 + Math.max(...skyline.slice(first, last + 1));
    skyline.fill(level, first, last + 1);
    levels.set(dependent, level);
  }
  const top = 1 + Math.max(0, ...skyline);
  for (const dependent of spans.keys()) if (!levels.has(dependent)) levels.set(dependent, top);
  return levels;
}
