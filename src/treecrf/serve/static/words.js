// Other words of the same text: where each of them is, and the CoNLL-U that keeps that text.

const SPACE = /\s/u;
const INNER = "\u00a0"; // a space inside a word, where words have spaces between them

/** Words as a person edits them: with spaces between them. */
export function shownWords(forms) {
  return forms.map((form) => form.replaceAll(" ", INNER)).join(" ");
}

/** The words that a person wrote so. */
export function readWords(shown) {
  return shown.split(/[^\S\u00a0]+/u).map((form) => form.replaceAll(INNER, " ")).filter(Boolean);
}

/**
 * Find words in the text that a sentence is of. `sentence` has its tokens with their places in the text and its
 * multiword tokens; those whose words stay are kept. Returns `forms`, `places` and `multiwords`, or throws an
 * error for words that are not those of the text.
 */
export function findWords(words, text, { tokens, multiwords }) {
  const letters = [...text];
  const end = tokens.at(-1).end;
  const wholes = new Map(multiwords.map((each) => [tokens[each.first - 1].start, each]));
  const found = { forms: [], places: [], multiwords: [] };
  let at = tokens[0].start;
  while (found.forms.length < words.length) {
    at = afterSpace(letters, at);
    const first = found.forms.length;
    const whole = wholes.get(at);
    const parts = whole ? tokens.slice(whole.first - 1, whole.last) : [];
    if (whole && parts.every(({ form }, index) => words[first + index] === form)) {
      found.multiwords.push({ first: first + 1, last: first + parts.length, form: whole.form });
      found.forms.push(...parts.map(({ form }) => form));
      found.places.push(...parts.map(({ start, end: stop }) => ({ start, end: stop })));
      at = parts[0].end;
    } else {
      const stop = endOf(words[first], letters, { at, end });
      found.forms.push(letters.slice(at, stop).join("").replace(/\s+/gu, " "));
      found.places.push({ start: at, end: stop });
      at = stop;
    }
  }
  const rest = letters.slice(afterSpace(letters, at), end).join("");
  if (rest) throw new Error(`The words end before «${short(rest)}»: all of the text must be in them.`);
  return found;
}

function afterSpace(letters, at) {
  while (at < letters.length && SPACE.test(letters[at])) at += 1;
  return at;
}

/** Where a word that begins here ends in the text; spaces between joined words do not count. */
function endOf(word, letters, { at, end }) {
  let place = at;
  for (const letter of word) {
    if (SPACE.test(letter)) continue;
    place = afterSpace(letters, place);
    if (place >= end || letters[place] !== letter) {
      const rest = short(letters.slice(at, end).join("")) || "nothing";
      throw new Error(
        `«${word}» is not how the text goes on («${rest}»): words can be split and joined here. ` +
          "To write them differently, change the text above.",
      );
    }
    place += 1;
  }
  return place;
}

function short(text) {
  return text.length > 30 ? `${text.slice(0, 29)}…` : text;
}

/** What is decided about words that stay, by their new numbers; `before` and `after` are the places of all words. */
export function movedDecisions({ heads, labels }, before, after) {
  const numbers = new Map(keysOf(after).map((key, index) => [key, index + 1]));
  const moved = new Map([[0, 0], ...keysOf(before).map((key, index) => [index + 1, numbers.get(key)])]);
  const kept = { heads: {}, labels: {} };
  for (const [dependent, head] of Object.entries(heads)) {
    const word = moved.get(Number(dependent));
    if (word === undefined || moved.get(head) === undefined) continue;
    kept.heads[word] = moved.get(head);
    if (dependent in labels) kept.labels[word] = labels[dependent];
  }
  return kept;
}

/** A name for each word by its place; the words of a multiword token, which have one place, are counted. */
function keysOf(places) {
  return places.map(({ start, end }, index) => {
    const first = places.findIndex((place) => place.start === start);
    return `${start}-${end}-${index - first}`;
  });
}

/**
 * CoNLL-U of words with what it had `before` they were cut so: its comments; and with what the text says:
 * multiword tokens, and where there is no space.
 */
export function withText(conllu, { before, text, places, multiwords }) {
  const letters = [...text];
  const wholes = new Map(multiwords.map((each) => [String(each.first), each]));
  const inside = new Set(multiwords.flatMap(({ first, last }) => range(first, last)));
  const misc = (place) => (place.end < letters.length && SPACE.test(letters[place.end]) ? "_" : "SpaceAfter=No");
  const isComment = (line) => line.startsWith("#");
  const comments = before.split("\n").filter(isComment);
  const lines = conllu.split("\n").filter((line) => !isComment(line));
  return [...comments, ...lines]
    .flatMap((line) => {
      const cells = line.split("\t");
      const place = cells.length === 10 ? places[Number(cells[0]) - 1] : undefined;
      if (!place) return [line];
      const whole = wholes.get(cells[0]);
      const above = whole && [`${whole.first}-${whole.last}`, whole.form, ..."_______", misc(place)].join("\t");
      const added = inside.has(Number(cells[0])) ? "_" : misc(place);
      cells[9] = [cells[9], added].filter((item) => item !== "_").join("|") || "_";
      return [above, cells.join("\t")].filter(Boolean);
    })
    .join("\n");
}

function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
