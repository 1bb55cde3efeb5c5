// The same tree as a table: for screen readers, small screens, and whoever likes tables better.

import { featuresOf } from "./analysis.js";
import { element, replaceChildren } from "./dom.js";
import { explain } from "./glossary.js";
import { percent } from "./scale.js";

/** Columns by name, with the cell of a word; some are there only where a word has something in them. */
const COLUMNS = [
  { name: "#", isNumber: true, cell: (token) => String(token.id) },
  { name: "Word", cell: (token) => token.form },
  { name: "Tag", cell: (token) => explainedCell(token.upos ?? "") },
  { name: "Head", cell: (token, table) => table.heads(token) },
  { name: "Probability", isNumber: true, cell: (token) => percent(token.prob) },
  { name: "Relation", cell: (token, table) => table.relation(token) },
  { name: "Probability", isNumber: true, cell: (token) => percent(token.deprel_prob) },
  { name: "Fixed", cell: (token, table) => table.fixed(token) },
  { name: "Lemma", has: (token) => token.lemma !== null, cell: (token) => token.lemma ?? "" },
  { name: "Features", has: (token) => token.feats !== null, cell: (token) => featureCell(token) },
];

export class TreeTable {
  #tokens = [];
  #isFilling = false;

  constructor({ pick, confirm, free, relabel, name }) {
    this.actions = { pick, confirm, free, relabel };
    this.body = element("tbody");
    this.head = element("tr");
    const caption = element("caption", { class: "unseen" }, `${name} as a table`);
    const table = element("table", {}, caption, element("thead", {}, this.head), this.body);
    this.node = element(
      "details",
      { class: "as-table", toggle: () => this.#fill() },
      element("summary", {}, "As a table"),
      element("div", { class: "scroller" }, table),
    );
  }

  show(tokens) {
    this.#tokens = tokens;
    this.#fill();
  }

  toggle() {
    this.node.open = !this.node.open;
    if (this.node.open) this.node.querySelector("summary").focus();
  }

  /** Put the focus on a cell by its name; whether there is such a one. */
  focus(cell) {
    const node = cell && this.body.querySelector(`[data-cell="${CSS.escape(cell)}"]`);
    node?.focus();
    return Boolean(node);
  }

  #fill() {
    if (!this.node.open) return;
    const { activeElement } = document;
    const focused = this.body.contains(activeElement) ? activeElement.dataset.cell : null;
    const tried = focused && activeElement.matches("select") ? activeElement.value : null;
    const isTrying = tried !== null && tried !== activeElement.dataset.taken;
    this.#isFilling = true; // a cell that goes is not left by anybody
    const columns = COLUMNS.filter(({ has }) => !has || this.#tokens.some(has));
    const classOf = ({ isNumber }) => (isNumber ? "number" : null);
    const titles = columns.map((each) => element("th", { scope: "col", class: classOf(each) }, each.name));
    const rows = this.#tokens.map((token) => {
      const cells = columns.map((each) => {
        if (each.name === "Word") return element("th", { scope: "row" }, each.cell(token));
        return element("td", { class: classOf(each) }, each.cell(token, this));
      });
      return element("tr", {}, ...cells);
    });
    replaceChildren(this.head, ...titles);
    replaceChildren(this.body, ...rows);
    this.#isFilling = false;
    this.focus(focused);
    if (isTrying) document.activeElement.value = tried; // who steps through heads goes on from there
  }

  /** The cell that says whether the head of a word is fixed. */
  fixed(token) {
    const fixed = element("input", {
      type: "checkbox",
      "aria-label": `Fix the head of ${token.form}`,
      "data-cell": `fixed-${token.id}`,
      change: (event) => {
        if (event.target.checked) this.actions.confirm(token.id);
        else this.actions.free(token.id);
      },
    });
    fixed.checked = token.fixed;
    return fixed;
  }

  /** The cell with the relation of a word. */
  relation(token) {
    return element(
      "button",
      {
        type: "button",
        class: "cell",
        "aria-label": `Relation of ${token.form}: ${token.deprel}. Change`,
        "data-cell": `relation-${token.id}`,
        title: explain(token.deprel),
        click: () => this.actions.relabel(token.id),
      },
      token.deprel,
    );
  }

  /** The cell with the head of a word. */
  heads(token) {
    const chances = new Map(token.heads.map((other) => [other.head, other.prob]));
    const option = (id, form) => {
      const chance = chances.has(id) ? ` (${percent(chances.get(id))})` : "";
      return element("option", { value: id }, `${id} ${form}${chance}`);
    };
    const others = this.#tokens.filter((other) => other.id !== token.id);
    const choice = element(
      "select",
      {
        "aria-label": `Head of ${token.form}`,
        "data-cell": `head-${token.id}`,
        title: "With the keyboard: Enter takes the head, Esc leaves it as it was",
      },
      option(0, "ROOT"),
      ...others.map((other) => option(other.id, other.form)),
    );
    choice.value = String(token.head);
    this.#takeWhenChosen(choice, token);
    return choice;
  }

  /**
   * What is chosen from the open list is taken. In the closed field a key only steps through the heads on
   * its way to one: that is taken with Enter, or when the field is left.
   */
  #takeWhenChosen(choice, token) {
    let isStepping = false;
    const isTaken = () => choice.value === choice.dataset.taken;
    const take = () => {
      choice.dataset.taken = choice.value;
      this.actions.pick(token.id, Number(choice.value));
    };
    choice.dataset.taken = choice.value;
    choice.addEventListener("pointerdown", () => {
      isStepping = false;
    });
    choice.addEventListener("keydown", (event) => {
      isStepping = !event.altKey && event.key !== "Enter" && event.key !== " "; // these are for the list
      if (event.key === "Enter" && !isTaken()) take();
      else if (event.key === "Escape") choice.value = choice.dataset.taken;
    });
    choice.addEventListener("change", () => {
      if (!isStepping) take();
    });
    choice.addEventListener("blur", () => {
      if (!this.#isFilling && !isTaken()) take();
    });
  }
}

function explainedCell(name) {
  const says = explain(name);
  return says === null ? name : element("abbr", { title: says }, name);
}

function featureCell({ feats }) {
  return element("span", { class: "features" }, ...featuresOf(feats).flatMap((each) => [explainedCell(each), " "]));
}
