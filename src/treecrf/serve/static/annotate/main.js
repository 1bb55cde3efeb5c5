// The page that asks a person about a corpus, sentence by sentence.

import { get } from "../api.js";
import { byId, element } from "../dom.js";
import { Editor } from "../editor.js";
import { setUpPage } from "../page.js";
import { areSame, carried } from "./boundaries.js";
import { Item } from "./item.js";
import { command, explanation, nothingToAsk, progressText } from "./overview.js";
import { addressOf, showLinks, whoAreYou } from "./people.js";
import { Remark } from "./remark.js";
import { recut, retag, wordRow } from "./words.js";

const KEYS = [
  ["`F`", "confirm its head and relation as they are"],
  ["`P`", "correct its tag (part of speech)"],
  ["`W`", "correct the words: split it, or join it with the one beside it"],
];

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
  const meanings = setUpPage(KEYS);
  const presses = { accept, skip, back: () => go(-1), forward: () => go(1) };
  for (const [id, press] of Object.entries(presses)) byId(id).addEventListener("click", press);
  document.addEventListener("keydown", pressed);
  window.addEventListener("beforeunload", (event) => {
    if (unsaved || current?.remark.isDirty) event.preventDefault(); // the browser asks whether to close the page
  });
  try {
    overview = await get(addressOf("api/annotate"));
    const { models } = await get("api/models");
    labels = models[0].labels;
  } catch (error) {
    fail(error);
    if (error.status === 404) await askWho();
    return;
  }
  if (overview.progress === null) {
    await askWho();
    return;
  }
  await meanings;
  showLinks(document.querySelector("nav"), { isTeam: overview.annotators.length > 1 });
  byId("explanation").textContent = explanation(overview);
  byId("command").textContent = command(overview);
  end = overview.progress.total + 1;
  if (end === 1) byId("finished").replaceChildren(...nothingToAsk());
  showProgress(overview.progress);
  await open(placeInAddress() ?? overview.progress.next);
}

/** Of several annotators, nobody has said who they are, or there is none of that name. */
async function askWho() {
  const { annotators } = await get("api/annotate");
  if (annotators.length === 0) return; // one works here alone, without a name
  byId("overview").replaceWith(problem, whoAreYou(annotators));
  byId("legend").hidden = true;
}

/** The place of the sentence that a link leads to, once; null for none. */
function placeInAddress() {
  const address = new URL(location.href);
  const place = Number(address.searchParams.get("place"));
  address.searchParams.delete("place");
  history.replaceState(null, "", address); // reloading the page goes on where one is
  return Number.isInteger(place) && place >= 1 && place <= overview.progress.total ? place : null;
}

function showProgress(progress) {
  overview.progress = progress;
  const { done, skipped, total } = progress;
  byId("progress-text").textContent = progressText(progress, current?.place);
  byId("progress").value = total ? (done + skipped) / total : 0;
}

function fail(error) {
  problem.textContent = error.message;
  problem.hidden = false;
}

/** Show the sentence at a place of the queue, or that there is none left; `word` gets the focus. */
async function open(place, word = null) {
  const mine = (opening += 1);
  problem.hidden = true;
  if (place === null) {
    showEnd();
    return;
  }
  let answer;
  try {
    answer = await get(addressOf(`api/annotate/${place}`));
  } catch (error) {
    if (mine === opening) fail(error);
    return;
  }
  if (mine !== opening) return;
  const item = makeItem(answer);
  // The same sentence, with news: who works on a word goes on there, unless its number is another word's now.
  const isSame = current?.key === item.key && areSame(current.written, item.written);
  const chosen = isSame ? current.editor.tree.chosen : null;
  if (isSame) word ??= focused() || null;
  current = item;
  showState(item.decisions);
  work.replaceChildren(item.editor.node);
  byId("finished").hidden = true;
  showActions({ isFirst: place === 1, isLast: place === answer.progress.total });
  showProgress(answer.progress);
  if (word !== null) item.editor.tree.focus(word);
  else if (!nextMarked(0)) item.editor.tree.focus(item.asked[0] ?? 1);
  if (chosen !== null) item.editor.tree.choose(chosen);
}

/** A sentence with all that one works on it with. */
function makeItem(answer) {
  const item = new Item(answer, { saved: showSaved, newer: showNewer });
  const decode = (decided) => decide(item, decided, item.state);
  item.note = element("p", { class: "note", role: "note", hidden: true });
  item.remark = new Remark({
    latest: () => item.editor.latest,
    change: (remark, says) => item.editor.change({ ...item.editor.latest, ...remark }, says),
    back: () => nextMarked(focused()) || item.editor.tree.focus(1),
  });
  item.editor = new Editor({
    answer: answer.sentence,
    decisions: item.decisions,
    labels,
    name: `Sentence ${item.place}`,
    file: `sentence-${item.number}`,
    asked: {
      asked: new Set(item.asked),
      askedHeads: new Set(answer.asked_heads),
      askedRelations: new Set(answer.asked_relations),
    },
    confirming: true,
    decode,
    best: (_, k) => get(item.address("/best", { k, key: item.key })),
    restored: decode,
    besides: (token) =>
      wordRow(token, {
        tags: item.editor.decisions.tags,
        retag: (id) => retag(item.editor, id),
        recut: (id) => recutAt(id),
      }),
    drawn: (decided) => item.remark.show(decided),
  });
  item.remark.show(item.decisions);
  item.editor.node.querySelector(".foot").before(item.remark.node);
  item.editor.node.append(item.note);
  return item;
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

/** Save what is decided about a sentence; its tree around that. */
async function decide(item, decisions, state) {
  unsaved += 1;
  try {
    return await item.save(decisions, state);
  } finally {
    unsaved -= 1;
  }
}

function showSaved(item, answer) {
  item.editor.conllu = answer.sentence.conllu; // with the tags that were corrected
  if (item === current) {
    showProgress(answer.progress);
    showState(answer);
  }
  byId("saved").textContent = `saved ${new Date().toLocaleTimeString()}`;
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
  item.remark.commit();
  busy = item.editor.isLeft = item.remark.isLocked = true;
  try {
    if ((await item.editor.settled) !== false) await act(item);
  } finally {
    busy = item.editor.isLeft = item.remark.isLocked = false;
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
    return finish(item, { ...decisions, heads, labels: relations }, "done");
  });
}

function isSameArc(one, other) {
  return one.head === other.head && one.deprel === other.deprel;
}

function skip() {
  return leave((item) => finish(item, item.editor.decisions, "skipped"));
}

async function finish(item, decisions, state) {
  if (await isTaken(item, decisions, state)) await open(item.next);
}

/** Save what is decided; whether that could be done. */
async function isTaken(item, decisions, state) {
  try {
    await decide(item, decisions, state);
    return true;
  } catch (error) {
    item.editor.fail(error);
    return false;
  }
}

/** Let a person split or join words, and show the sentence with those; it is not done then. */
async function recutAt(id) {
  const item = current;
  const chosen = await recut(item, id);
  if (chosen === undefined || item !== current) return;
  const { tokens, word } = chosen;
  await leave(async () => {
    const { decisions } = item.editor;
    const kept = carried(decisions, item.written, tokens);
    const decided = { ...decisions, ...kept, tokens: areSame(tokens, item.original) ? null : tokens };
    if (!(await isTaken(item, decided, "open"))) return;
    item.editor.tree.choose(null); // its number may be that of another word
    await open(item.place, word);
  });
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
  const press = current ? keysOf(current)[event.key.toLowerCase()] : { b: () => go(-1) }[event.key.toLowerCase()];
  if (press) {
    event.preventDefault();
    press();
  }
}

function keysOf({ editor, remark }) {
  const word = () => editor.tree.chosen ?? (focused() || editor.details.id || 1);
  return {
    a: accept,
    s: skip,
    b: () => go(-1),
    n: () => go(1),
    m: () => nextMarked(focused()),
    p: () => retag(editor, word()),
    w: () => recutAt(word()),
    c: () => remark.input.focus(),
    g: () => remark.toggle(),
  };
}

function focused() {
  return Number(document.activeElement?.closest(".word")?.dataset.id ?? 0);
}

setUp();
