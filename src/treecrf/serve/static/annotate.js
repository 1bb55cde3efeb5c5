// The page that asks a person about a corpus, sentence by sentence.

import { get, post } from "./api.js";
import { byId, element } from "./dom.js";
import { Editor } from "./editor.js";
import { setUpPage } from "./page.js";

const actions = byId("actions");
const problem = byId("problem");
const work = byId("work");

let overview = null;
let labels = [];
let current = null; // the sentence that is shown; null at the end
let end = 1; // the place after the one that B goes to from the end
let busy = false;
let opening = 0; // how often a sentence was asked for: the last one is shown
let unsaved = 0; // decisions without an answer

async function setUp() {
  setUpPage([["`F`", "confirm its head and relation as they are"]]);
  const presses = { accept, skip, back: () => go(-1), forward: () => go(1) };
  for (const [id, press] of Object.entries(presses)) byId(id).addEventListener("click", press);
  document.addEventListener("keydown", pressed);
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault(); // the browser asks whether to close the page
  });
  try {
    overview = await get("api/annotate");
    const { models } = await get("api/models");
    labels = models[0].labels;
  } catch (error) {
    fail(error);
    return;
  }
  byId("explanation").textContent = explanation();
  byId("command").textContent = `treecrf train --train ${overview.out} --init MODEL --dev … --out …`;
  end = overview.progress.total + 1;
  if (end === 1) explainNoQuestions();
  showProgress(overview.progress);
  await open(overview.progress.next);
}

function explainNoQuestions() {
  byId("finished").replaceChildren(
    element("h2", {}, "There is nothing to ask about."),
    element("p", {}, "The parser is sure of every word by this measure. A higher one asks about more:"),
    element("pre", {}, "treecrf annotate … --threshold 0.95"),
  );
}

function explanation() {
  const { threshold, share, about } = overview;
  const what = { heads: "head", relations: "relation", both: "head or relation" }[about];
  const which =
    share === null
      ? `words whose ${what} the parser is less than ${Math.round(threshold * 100)}% sure of`
      : `the ${Math.round(share * 100)}% of words whose ${what} the parser is least sure of`;
  return `Marked with ? are ${which}. What you confirm is saved in ${overview.out} at once.`;
}

function showProgress(progress) {
  overview.progress = progress;
  const { done, skipped, total, heads } = progress;
  const parts = [`${done} of ${total} sentences done`, `${heads} ${heads === 1 ? "head" : "heads"} confirmed`];
  if (skipped) parts.splice(1, 0, `${skipped} skipped`);
  const place = current ? `Sentence ${current.place} · ` : "";
  byId("progress-text").textContent = place + parts.join(" · ");
  byId("progress").value = total ? (done + skipped) / total : 0;
}

function fail(error) {
  problem.textContent = error.message;
  problem.hidden = false;
}

/** Show the sentence at a place of the queue, or that there is none left. */
async function open(place) {
  const mine = (opening += 1);
  problem.hidden = true;
  if (place === null) {
    showEnd();
    return;
  }
  let item;
  try {
    item = await get(`api/annotate/${place}`);
  } catch (error) {
    if (mine === opening) fail(error);
    return;
  }
  if (mine !== opening) return;
  const { heads, labels: relations, state, key } = item;
  const opened = { place, key, state, next: item.progress.next, asked: item.asked };
  opened.known = item.known; // the versions that the file may have of it, the last one sent last
  opened.note = element("p", { class: "note", role: "note", hidden: true });
  opened.editor = new Editor({
    answer: item.sentence,
    decisions: { heads, labels: relations },
    labels,
    name: `Sentence ${place}`,
    file: `sentence-${item.number}`,
    asked: {
      asked: new Set(item.asked),
      askedHeads: new Set(item.asked_heads),
      askedRelations: new Set(item.asked_relations),
    },
    confirming: true,
    decode: (decided) => decide(opened, decided, opened.state),
    best: (_, k) => get(`api/annotate/${place}/best?k=${k}&key=${key}`),
    restored: (decided) => decide(opened, decided, opened.state),
  });
  opened.editor.node.append(opened.note);
  const chosen = current?.key === key ? current.editor.tree.chosen : null; // the same sentence, with news
  current = opened;
  showState({ heads });
  work.replaceChildren(opened.editor.node);
  byId("finished").hidden = true;
  showActions({ isFirst: place === 1, isLast: place === item.progress.total });
  showProgress(item.progress);
  if (!nextMarked(0)) opened.editor.tree.focus(item.asked[0] ?? 1);
  if (chosen !== null) opened.editor.tree.choose(chosen);
}

function showEnd() {
  if (current) end = current.place + 1;
  current = null;
  work.replaceChildren();
  byId("finished").hidden = false;
  byId("finished").focus({ preventScroll: true });
  showActions({ isFirst: end === 1, isLast: true });
  showProgress(overview.progress);
}

/** At the end one can only go back. */
function showActions({ isFirst, isLast }) {
  actions.hidden = current === null && isFirst;
  byId("back").disabled = isFirst;
  byId("forward").disabled = isLast;
  for (const id of ["accept", "skip"]) byId(id).disabled = current === null;
}

/**
 * Save what is decided about a sentence; its tree around that. It is sent at once, so that closing the page
 * does not stop it: of two that are under way, the service may see the second first, and then refuses the
 * first, which did not know of it.
 */
async function decide(item, { heads, labels: relations }, state) {
  const version = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const { key, known } = item;
  item.known = [...known, version];
  unsaved += 1;
  try {
    const decision = { key, version, known, heads, labels: relations, state };
    const answer = await post(`api/annotate/${item.place}`, decision, { keepalive: true });
    const at = item.known.indexOf(version);
    if (at < 0) return answer.sentence; // a later one is saved already, and told
    item.known = [...answer.known, ...item.known.slice(at + 1)]; // what was before it does not come back
    item.state = answer.state;
    item.next = answer.progress.next;
    if (item === current) {
      showProgress(answer.progress);
      showState({ heads });
    }
    byId("saved").textContent = `saved ${new Date().toLocaleTimeString()}`;
    return answer.sentence;
  } catch (error) {
    const isLast = item.known.at(-1) === version;
    // Without an answer of the service it may have been saved all the same.
    if (error.status >= 400 && error.status < 500) item.known = item.known.filter((each) => each !== version);
    if (error.status === 409 && isLast) showNewer(item, error);
    throw error;
  } finally {
    unsaved -= 1;
  }
}

/** Show what there is of a sentence that was changed elsewhere, and say so. */
async function showNewer(item, error) {
  if (item !== current) return;
  await open(item.place);
  if (current !== item && current?.place === item.place) current.editor.fail(error);
}

function showState({ heads }) {
  current.editor.node.dataset.state = current.state;
  const crosses = areCrossing(heads);
  current.note.hidden = !crosses;
  current.note.textContent = crosses
    ? "Confirmed arcs cross. A projective parser leaves such a sentence out when it learns from parts of trees."
    : "";
}

/** Whether two of these arcs cross; the root is left of all words. */
function areCrossing(heads) {
  const spans = Object.entries(heads).map(([dependent, head]) => [
    Math.min(dependent, head),
    Math.max(dependent, head),
  ]);
  return spans.some(([a, b]) => spans.some(([c, d]) => a < c && c < b && b < d));
}

/**
 * Leave the sentence once all that was decided about it is saved, and stay where that fails. What is
 * pressed meanwhile is about no sentence that a person has seen.
 */
async function leave(act) {
  if (!current || busy) return;
  const item = current;
  busy = item.editor.isLeft = true;
  try {
    if ((await item.editor.settled) !== false) await act(item);
  } finally {
    busy = item.editor.isLeft = false;
  }
}

/** Confirm the marked words and those that were changed, as they are shown, and go on. */
function accept() {
  const seen = current?.editor.tokens;
  return leave((item) => {
    const { tokens, decisions } = item.editor;
    const heads = { ...decisions.heads };
    const relations = { ...decisions.labels };
    const isNew = (id) => !(id in heads) && !isSameArc(seen[id - 1], tokens[id - 1]);
    const news = item.asked.filter(isNew).map((id) => `«${tokens[id - 1].form}»`);
    if (news.length) {
      const problem = `Not accepted yet: ${news.join(", ")} changed meanwhile. Look, and accept again.`;
      item.editor.fail(new Error(problem));
      return;
    }
    for (const id of new Set([...item.asked, ...Object.keys(heads).map(Number)])) {
      heads[id] = tokens[id - 1].head;
      relations[id] = tokens[id - 1].deprel;
    }
    return finish(item, { heads, labels: relations }, "done");
  });
}

function isSameArc(one, other) {
  return one.head === other.head && one.deprel === other.deprel;
}

function skip() {
  return leave((item) => finish(item, item.editor.decisions, "skipped"));
}

async function finish(item, decisions, state) {
  try {
    await decide(item, decisions, state);
  } catch (error) {
    item.editor.fail(error);
    return;
  }
  await open(item.next);
}

function go(by) {
  if (!current && !busy && by < 0 && end > 1) return open(end - 1);
  return leave(async ({ place }) => {
    if (place + by >= 1 && place + by <= overview.progress.total) await open(place + by);
  });
}

/** Go to the next word that is asked about and not confirmed yet; whether there is one. */
function nextMarked(after) {
  const { editor, asked } = current;
  const left = asked.filter((id) => !(id in editor.decisions.heads));
  const id = left.find((word) => word > after) ?? left[0];
  if (id !== undefined) editor.tree.focus(id);
  return id !== undefined;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches?.("input, select, textarea")) return;
  const mark = () => current && nextMarked(focused());
  const keys = { a: accept, s: skip, b: () => go(-1), n: () => go(1), m: mark };
  const press = keys[event.key.toLowerCase()];
  if (press) {
    event.preventDefault();
    press();
  }
}

function focused() {
  return Number(document.activeElement?.closest(".word")?.dataset.id ?? 0);
}

setUp();
