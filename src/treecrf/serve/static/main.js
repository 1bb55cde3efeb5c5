// The page that parses what is typed.

import { get, post } from "./api.js";
import { byId, element } from "./dom.js";
import { save } from "./downloads.js";
import { Editor } from "./editor.js";
import { setUpPage } from "./page.js";

const form = byId("form");
const text = byId("text");
const model = byId("model");
const problem = byId("problem");
const status = byId("status");
const results = byId("results");
const all = byId("all");

let models = new Map();
let meanings = null; // a promise of those of relations
let editors = [];
let turn = 0;

async function setUp() {
  meanings = setUpPage([["`Ctrl`+`Enter`", "in the text: parse"]]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    parse();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse();
  });
  model.addEventListener("change", tellInput);
  byId("all-conllu").addEventListener("click", () =>
    save("treecrf.conllu", "text/plain", editors.map((editor) => editor.toConllu()).join("")),
  );
  byId("all-json").addEventListener("click", () => {
    const sentences = editors.map((editor) => editor.toJson());
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
}

/** Say how the text must look for a model that cannot cut it. */
function tellInput() {
  const cuts = models.get(model.value)?.segmenter ?? true;
  byId("input-hint").textContent = cuts
    ? "Plain text: it is cut into sentences and words."
    : "One sentence a line, words separated by spaces.";
}

function fail(error) {
  problem.textContent = error.message;
  problem.hidden = false;
  status.textContent = "";
}

async function parse() {
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
    const answer = await post("api/parse", { model: name, text: text.value });
    await meanings;
    if (mine === turn) show(answer, started);
  } catch (error) {
    if (mine === turn) fail(error);
  } finally {
    if (mine === turn) form.removeAttribute("aria-busy");
  }
}

function show(answer, started) {
  const labels = models.get(answer.model)?.labels ?? [];
  editors = answer.sentences.map((sentence, index) => makeEditor(answer.model, sentence, labels, index));
  results.replaceChildren(...editors.map((editor) => editor.node));
  all.hidden = editors.length === 0;
  byId("welcome").hidden = true;
  const count = editors.length === 1 ? "1 sentence" : `${editors.length} sentences`;
  const milliseconds = Math.max(1, Math.round(performance.now() - started));
  status.textContent = editors.length ? `${count} in ${milliseconds} ms` : "There is no sentence in this text.";
}

function makeEditor(name, sentence, labels, index) {
  const tokens = [sentence.tokens.map((token) => token.form)];
  const ask = async (decisions, more) => {
    const constraints = [decisions.heads];
    const request = { model: name, tokens, constraints, labels: [decisions.labels], ...more };
    return (await post("api/parse", request)).sentences[0];
  };
  return new Editor({
    answer: sentence,
    labels,
    name: `Sentence ${index + 1}`,
    file: `sentence-${index + 1}`,
    decode: async (decisions) => placed(await ask(decisions, {}), sentence),
    best: (decisions, k) => ask(decisions, { topk: k, marginals: true }),
  });
}

/** An answer about words, with what only the answer about their text has. */
function placed(answer, { text: whole, tokens, multiwords }) {
  const places = tokens.map(({ start, end }) => ({ start, end }));
  return {
    ...answer,
    text: whole,
    multiwords,
    tokens: answer.tokens.map((token, index) => ({ ...token, ...places[index] })),
  };
}

for (const example of document.querySelectorAll("[data-example]")) {
  example.addEventListener("click", () => {
    text.value = example.textContent;
    parse();
  });
}

setUp();
