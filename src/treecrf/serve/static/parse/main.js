// The page that parses what is typed.

import { get, post } from "../api.js";
import { button, byId, element } from "../dom.js";
import { save } from "../downloads.js";
import { examplesFor } from "./examples.js";
import { linkOf, readLink } from "./link.js";
import { setUpPage } from "../page.js";
import { Sentences } from "./sentences.js";

const form = byId("form");
const text = byId("text");
const model = byId("model");
const problem = byId("problem");
const status = byId("status");
const results = byId("results");
const all = byId("all");
const copy = byId("copy");

let models = new Map();
let meanings = null; // a promise of those of relations
let shown = null; // the sentences that were parsed last
let turn = 0;

async function setUp() {
  meanings = setUpPage([
    ["`W`", "split or join words"],
    ["`Ctrl`+`Enter`", "in the text: parse"],
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    parse();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse();
  });
  model.addEventListener("change", tellInput);
  copy.addEventListener("click", copyLink);
  byId("all-conllu").addEventListener("click", () =>
    save("treecrf.conllu", "text/plain", shown.editors.map((editor) => editor.toConllu()).join("")),
  );
  byId("all-json").addEventListener("click", () => {
    const sentences = shown.editors.map((editor) => editor.toJson());
    save("treecrf.json", "application/json", `${JSON.stringify({ sentences }, null, 2)}\n`);
  });
  try {
    const answer = await get("api/models");
    models = new Map(answer.models.map((each) => [each.name, each]));
    model.replaceChildren(...[...models.keys()].map((name) => element("option", { value: name }, name)));
    model.value = answer.default;
    byId("model-choice").hidden = models.size < 2;
  } catch (error) {
    fail(error);
  }
  tellInput();
  window.addEventListener("hashchange", openLink);
  await openLink();
}

/** Say how the text must look for the model, and what to try. */
function tellInput() {
  const { segmenter = true, language = "" } = models.get(model.value) ?? {};
  const examples = examplesFor({ language, segmenter });
  byId("examples").hidden = examples.length === 0;
  byId("examples").replaceChildren("Try", ...examples.map(exampleButton));
  byId("input-hint").textContent = segmenter
    ? "Plain text: it is cut into sentences and words."
    : "One sentence a line, words separated by spaces.";
}

function exampleButton([name, sentence]) {
  const press = () => {
    text.value = sentence;
    parse();
  };
  return button(name, { class: "chip plain", title: sentence, "aria-label": `Try ${name}`, press });
}

function fail(error) {
  problem.textContent = error.message;
  problem.hidden = false;
  status.textContent = "";
}

/** Parse the text, and what a link has changed in it. */
async function parse(link = null) {
  const mine = (turn += 1);
  problem.hidden = true;
  if (!text.value.trim()) {
    form.removeAttribute("aria-busy"); // what is being parsed is not shown any more
    fail(new Error("There is nothing to parse yet: type a sentence."));
    text.focus();
    return;
  }
  status.textContent = "Parsing …";
  form.setAttribute("aria-busy", "true");
  const started = performance.now();
  const name = model.value || null;
  try {
    const given = text.value;
    const answer = await post("api/parse", { model: name, text: given });
    await meanings;
    if (mine !== turn) return;
    show(answer, { given, started });
    if (link) await shown.change(link.changed);
    else history.replaceState(null, "", location.pathname + location.search); // it was of something else
  } catch (error) {
    if (mine === turn) fail(error);
  } finally {
    if (mine === turn) form.removeAttribute("aria-busy");
  }
}

function show(answer, { given, started }) {
  shown = new Sentences(answer, { text: given, labels: models.get(answer.model)?.labels ?? [] });
  const { editors } = shown;
  results.replaceChildren(...editors.map((editor) => editor.node));
  all.hidden = copy.hidden = editors.length === 0;
  const count = editors.length === 1 ? "1 sentence" : `${editors.length} sentences`;
  const milliseconds = Math.max(1, Math.round(performance.now() - started));
  status.textContent = editors.length ? `${count} in ${milliseconds} ms` : "There is no sentence in this text.";
}

/** Make the address of the page one that shows the same again, and copy it. */
async function copyLink() {
  problem.hidden = true;
  const { text: given, model: name, changed } = shown;
  const link = linkOf({ text: given, model: models.size > 1 ? name : null, changed });
  if (link === null) return fail(new Error("This is too long for a link: parse less text at once."));
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(location.href);
    status.textContent = "The link is copied: it has the text and what you changed.";
  } catch {
    status.textContent = "The address of this page is the link: it has the text and what you changed.";
  }
}

/** Show what the address of the page says. */
async function openLink() {
  const link = readLink(location.hash);
  if (link === null) return;
  text.value = link.text;
  if (models.has(link.model)) model.value = link.model;
  tellInput();
  await parse(link);
  if (link.problem) fail(new Error(link.problem));
  else if (link.model !== null && !models.has(link.model)) {
    const wanted = `The link is for the model «${link.model}», which is not served here`;
    fail(new Error(`${wanted}: this is «${shown?.model}».`));
  }
}

setUp();
