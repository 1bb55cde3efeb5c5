// The page that asks a person about a corpus, sentence by sentence.

import { get, post } from "./api.js";
import { byId, element } from "./dom.js";
import { Editor } from "./editor.js";
import { setUpHelp } from "./help.js";
import { legend } from "./scale.js";

const actions = byId("actions");
const problem = byId("problem");
const work = byId("work");

let overview = null;
let labels = [];
let current = null; // { place, state, editor, note }
let busy = false;
let saving = Promise.resolve(); // one decision after the other reaches the file

async function setUp() {
  setUpHelp();
  byId("legend").append(legend());
  const presses = { accept, skip, back: () => go(-1), forward: () => go(1) };
  for (const [id, press] of Object.entries(presses)) byId(id).addEventListener("click", press);
  document.addEventListener("keydown", pressed);
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
  showProgress(overview.progress);
  await open(overview.progress.next);
}

function explanation() {
  const { threshold, share } = overview;
  const which =
    share === null
      ? `words whose head the parser is less than ${Math.round(threshold * 100)}% sure of`
      : `the ${Math.round(share * 100)}% of words whose heads the parser is least sure of`;
  return `Marked with ? are ${which}. What you confirm is saved in ${overview.out} at once.`;
}

function showProgress(progress) {
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
  problem.hidden = true;
  if (place === null) {
    current = null;
    work.replaceChildren();
    actions.hidden = true;
    byId("finished").hidden = false;
    return;
  }
  let item;
  try {
    await saving;
    item = await get(`api/annotate/${place}`);
  } catch (error) {
    fail(error);
    return;
  }
  const decisions = { heads: item.heads, labels: item.labels };
  const opened = { place, state: item.state, next: item.progress.next, asked: item.asked };
  opened.note = element("p", { class: "note", role: "note", hidden: true });
  opened.editor = new Editor({
    answer: item.sentence,
    decisions,
    labels,
    name: `Sentence ${place}`,
    file: `sentence-${item.number}`,
    asked: item.asked,
    confirming: true,
    decode: (decided) => decide(opened, decided, opened.state),
    best: (_, k) => get(`api/annotate/${place}/best?k=${k}`),
    restored: (decided) => decide(opened, decided, opened.state),
  });
  opened.editor.node.append(opened.note);
  current = opened;
  showState(decisions);
  work.replaceChildren(opened.editor.node);
  actions.hidden = false;
  byId("finished").hidden = true;
  byId("back").disabled = place === 1;
  byId("forward").disabled = place === item.progress.total;
  showProgress(item.progress);
  nextMarked(0);
}

/** Save what is decided about a sentence; its tree around that. */
function decide(item, { heads, labels: relations }, state) {
  const answered = saving.then(() =>
    post(`api/annotate/${item.place}`, { heads, labels: relations, state }, { keepalive: true }),
  );
  saving = answered.catch(() => {}); // what could not be saved is told by whoever decided it
  return answered.then((answer) => {
    item.state = answer.state;
    item.next = answer.progress.next;
    if (item === current) {
      showProgress(answer.progress);
      showState({ heads });
    }
    byId("saved").textContent = `saved ${new Date().toLocaleTimeString()}`;
    return answer.sentence;
  });
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
  busy = true;
  try {
    const item = current;
    if ((await item.editor.settled) !== false) await act(item);
  } finally {
    busy = false;
  }
}

/** Confirm the marked words and those that were changed, as they are shown, and go on. */
function accept() {
  return leave((item) => {
    const { tokens, decisions } = item.editor;
    const heads = { ...decisions.heads };
    const relations = { ...decisions.labels };
    for (const id of new Set([...item.asked, ...Object.keys(heads).map(Number)])) {
      heads[id] = tokens[id - 1].head;
      relations[id] = tokens[id - 1].deprel;
    }
    return finish(item, { heads, labels: relations }, "done");
  });
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
  return leave(async ({ place }) => {
    if (place + by >= 1 && place + by <= overview.progress.total) await open(place + by);
  });
}

/** Go to the next word that is asked about and not confirmed yet. */
function nextMarked(after) {
  const { editor, asked } = current;
  const left = asked.filter((id) => !(id in editor.decisions.heads));
  const id = left.find((word) => word > after) ?? left[0];
  if (id !== undefined) editor.tree.focus(id);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (!current || event.target.matches?.("input, select, textarea")) return;
  const keys = { a: accept, s: skip, b: () => go(-1), n: () => go(1), m: () => nextMarked(focused()) };
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
