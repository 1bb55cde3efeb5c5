// The page of what annotators agree on, where they differ, what they remark, and files to take away.

import { get } from "../api.js";
import { byId, element } from "../dom.js";
import { explain, loadGlossary } from "../glossary.js";
import { command } from "./overview.js";
import { annotator, pageOf } from "./people.js";

async function setUp() {
  byId("back").href = pageOf(annotator);
  try {
    const asked = [get("api/annotate"), get("api/annotate/agreement"), loadGlossary()];
    const [overview, found] = await Promise.all(asked);
    const names = overview.annotators.map(({ name }) => name);
    byId("content").append(...(names.length > 1 ? [figures(found), differences(found)] : []));
    byId("content").append(remarks(found), downloads(overview, names));
  } catch (error) {
    byId("problem").textContent = error.message;
    byId("problem").hidden = false;
  }
}

function section(title, ...children) {
  return element("section", { class: "card", "aria-label": title }, element("h2", {}, title), ...children);
}

function table(caption, columns, rows) {
  const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)));
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      {},
      element("caption", { class: "unseen" }, caption),
      element("thead", {}, head),
      element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells))),
    ),
  );
}

const number = (text) => element("td", { class: "number" }, text);
const share = (value) => number(value === null ? "–" : `${(value * 100).toFixed(1)}%`);

function figures({ pairs }) {
  const rows = pairs.map((pair) => [
    element("th", { scope: "row" }, pair.annotators.join(" and ")),
    number(String(pair.sentences)),
    number(String(pair.words)),
    share(pair.uas),
    share(pair.las),
    number(pair.kappa === null ? "–" : pair.kappa.toFixed(3)),
  ]);
  const columns = ["Annotators", "Sentences", "Words", "UAS", "LAS", "Cohen’s kappa"];
  return section(
    "Agreement",
    table("Agreement of each pair", columns, rows),
    element(
      "p",
      { class: "hint" },
      "Of the sentences that both are done with, the words whose head both have confirmed: how many have the same ",
      "head (UAS), and of those with confirmed relations, how many have the same head and relation (LAS). Kappa is ",
      "the agreement of the relations beyond chance.",
    ),
  );
}

function differences({ disagreements }) {
  const count = disagreements.length;
  const none = element("p", { class: "hint" }, "There is no sentence that two are done with and differ in.");
  return section(
    "Disagreements",
    ...(count
      ? [element("p", {}, count === 1 ? "1 sentence" : `${count} sentences`), ...disagreements.map(difference)]
      : [none]),
  );
}

function difference({ number: corpusNumber, text, words, tokens, places }) {
  const names = Object.keys(places).filter((name) => words.some((word) => word.said[name]) || tokens[name]);
  const links = names.map((name) =>
    element("a", { href: pageOf(name, places[name]) }, `open as ${name}`),
  );
  const rows = words.map((word) => [
    element("th", { scope: "row" }, word.form),
    ...names.map((name) => element("td", {}, ...said(word.said[name], word.differs))),
  ]);
  const cuts = Object.entries(tokens).map(([name, forms]) =>
    element(
      "p",
      { class: "cut" },
      element("b", {}, `${name}: `),
      ...forms.flatMap((form) => [element("span", { class: "token" }, form), " "]),
    ),
  );
  return element(
    "article",
    { class: "difference", "aria-label": `Sentence ${corpusNumber} of the corpus` },
    element("h3", {}, element("span", { class: "where" }, String(corpusNumber)), text),
    ...(cuts.length ? [element("p", { class: "hint" }, "They have different words:"), ...cuts] : []),
    ...(rows.length ? [table("What they say", ["Word", ...names], rows)] : []),
    element("p", { class: "links" }, ...links.flatMap((link) => [link, " "])),
  );
}

/** What somebody says of a word; what others say otherwise is marked. */
function said(opinion, differs) {
  if (!opinion) return ["–"];
  const { head, deprel, upos } = opinion;
  const parts = [
    ["head", head && (head.id ? `${head.form} (${head.id})` : head.form)],
    ["relation", deprel],
    ["tag", differs.includes("tag") ? (upos ?? "no tag") : null], // otherwise it is the same for all
  ];
  return parts
    .filter(([, text]) => text)
    .flatMap(([what, text]) => {
      const name = differs.includes(what) ? "mark" : "span";
      return [element(name, { title: explain(text) }, text), " "];
    });
}

function remarks({ remarks: found }) {
  const items = found.map(({ number: corpusNumber, text, annotator: who, place, comment, flag }) =>
    element(
      "li",
      {},
      flag ? element("span", { class: "flagged", title: "flagged", role: "img", "aria-label": "flagged" }, "⚑ ") : null,
      who ? element("b", {}, `${who}: `) : null,
      comment ? `${comment} ` : null,
      element("a", { href: pageOf(who, place) }, text),
      element("span", { class: "hint" }, ` (${corpusNumber})`),
    ),
  );
  const none = element("p", { class: "hint" }, "Nobody has commented on a sentence or flagged one.");
  return section("Comments and flags", items.length ? element("ul", { class: "remarks" }, ...items) : none);
}

function downloads({ model }, names) {
  const file = (path, text, hint) =>
    element("li", {}, element("a", { href: path, download: true }, text), element("span", { class: "hint" }, ` ${hint}`));
  const own = (names.length ? names : [""]).map((name) =>
    file(
      name ? `api/annotate/export?annotator=${encodeURIComponent(name)}` : "api/annotate/export",
      name ? `Decisions of ${name}` : "All decisions",
      "as in the file",
    ),
  );
  const all = [
    file("api/annotate/export/all", "Decisions of all", "one after the other; a comment names the annotator"),
    file("api/annotate/export/agreed", "What is agreed", "what two have confirmed and nobody contradicts"),
  ];
  const name = names.length > 1 ? "annotated.agreed.conllu" : "annotated.conllu";
  return section(
    "Files to train on",
    element("ul", { class: "files" }, ...own, ...(names.length > 1 ? all : [])),
    element("p", { class: "hint" }, "These are CoNLL-U with partial trees. To train on one:"),
    element("pre", {}, command({ file: name, model })),
  );
}

setUp();
