// Token boundaries: tokens split and joined, and what stays decided about the words.
//
// Tokens are as the service writes them: a `form`, and `words` of a multiword token, otherwise none.

/** How many words a token has. */
function countOf(token) {
  return token.words.length || 1;
}

/** The place in the list of the token that has this word, the first word being 1. */
export function tokenOf(tokens, word) {
  let last = 0;
  return tokens.findIndex((token) => (last += countOf(token)) >= word);
}

/** The number of the first word of a token. */
export function firstWordOf(tokens, index) {
  return 1 + tokens.slice(0, index).reduce((sum, token) => sum + countOf(token), 0);
}

/** The tokens with others in the place of some. */
function replaced(tokens, index, count, others) {
  return [...tokens.slice(0, index), ...others, ...tokens.slice(index + count)];
}

/**
 * The tokens with one of them cut into pieces, or made of them as words if `areWords`; an error says what
 * cannot be.
 */
export function split(tokens, index, { pieces, areWords }) {
  const { form, words } = tokens[index];
  if (areWords) {
    if (pieces.length < 2) throw new Error("A token of several words has two at least: put a space between them.");
    return replaced(tokens, index, 1, [{ form, words: pieces }]);
  }
  if (pieces.join("") !== form.replace(/\s/g, "")) {
    throw new Error(`The pieces do not spell «${form}». Only the words of one token may be written differently.`);
  }
  if (pieces.length === 1 && words.length === 0) throw new Error("Put a space where it is to be split.");
  return replaced(tokens, index, 1, pieces.map((piece) => ({ form: piece, words: [] })));
}

/** The tokens with one joined to the next; `text` is that of the sentence, which says what is between them. */
export function join(tokens, index, text) {
  let place = 0;
  for (const token of tokens.slice(0, index)) place = text.indexOf(token.form, place) + token.form.length;
  const start = text.indexOf(tokens[index].form, place);
  const next = tokens[index + 1].form;
  const end = text.indexOf(next, start + tokens[index].form.length) + next.length;
  return replaced(tokens, index, 2, [{ form: text.slice(start, end), words: [] }]);
}

/** Whether two lists have the same tokens. */
export function areSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A name for each word, which it keeps where tokens elsewhere change. */
function namesOf(tokens) {
  let place = 0;
  return tokens.flatMap(({ form, words }) => {
    const start = place;
    place += form.replace(/\s/g, "").length;
    return (words.length ? words : [form]).map((_, number) => JSON.stringify([start, form, words, number]));
  });
}

/** What is decided about words that are there before and after a change of tokens, by their new numbers. */
export function carried({ heads, labels, tags }, before, after) {
  const numbers = new Map(namesOf(after).map((name, index) => [name, index + 1]));
  const moved = new Map([["0", 0]]); // from old numbers, as decisions have them
  namesOf(before).forEach((name, index) => {
    if (numbers.has(name)) moved.set(String(index + 1), numbers.get(name));
  });
  const stay = (entries) => entries.filter(([word]) => moved.has(word));
  const arcs = stay(Object.entries(heads)).filter(([, head]) => moved.has(String(head)));
  const kept = new Set(arcs.map(([word]) => word));
  const renumbered = (entries) => Object.fromEntries(entries.map(([word, value]) => [moved.get(word), value]));
  return {
    heads: Object.fromEntries(arcs.map(([word, head]) => [moved.get(word), moved.get(String(head))])),
    labels: renumbered(Object.entries(labels).filter(([word]) => kept.has(word))),
    tags: renumbered(stay(Object.entries(tags))),
  };
}
