// The address of a page that shows the same again. All is in its fragment, which browsers send to nobody.

const MOST = 60_000; // characters: browsers and programs that send messages cut longer addresses

/**
 * The fragment for a text, the name of a model and what was changed in its sentences: a list of objects with the
 * number of the sentence (`sentence`), its `words`, and `heads` and `labels` by word. Null where it is too long.
 */
export function linkOf({ text, model, changed }) {
  const parameters = new URLSearchParams({ text });
  if (model) parameters.set("model", model);
  if (changed.length) parameters.set("changed", JSON.stringify(changed));
  const fragment = `#${parameters}`;
  return fragment.length > MOST ? null : fragment;
}

/** What a fragment says, as `linkOf` takes it; null where it is no such link. `problem` says what is wrong with it. */
export function readLink(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/u, ""));
  const text = parameters.get("text");
  if (text === null) return null;
  const changed = readChanged(parameters.get("changed") ?? "[]");
  const problem = changed === null ? "This link is damaged: what was changed in the text is lost." : null;
  return { text, model: parameters.get("model"), changed: changed ?? [], problem };
}

function readChanged(json) {
  try {
    const changed = JSON.parse(json);
    return Array.isArray(changed) && changed.every(isChange) ? changed : null;
  } catch {
    return null; // part of it is missing
  }
}

function isChange(value) {
  return (
    Number.isInteger(value?.sentence) &&
    Array.isArray(value.words) &&
    value.words.every((form) => typeof form === "string") &&
    isObjectOf(value.heads, Number.isInteger) &&
    isObjectOf(value.labels, (label) => typeof label === "string")
  );
}

function isObjectOf(value, isRight) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isRight);
}
