// A sentence to work on: its tree, what is fixed in it, undo and redo, the best trees, downloads.

import { Decisions } from "./decisions.js";
import { Details } from "./details.js";
import { element } from "./dom.js";
import { pngFile, save, svgFile, withTree } from "./downloads.js";
import { chooseLabel } from "./labels.js";
import { drawerOf } from "./press.js";
import { BestTrees } from "./ranks.js";
import { TreeTable } from "./table.js";
import { Toolbar } from "./toolbar.js";
import { TreeView } from "./tree.js";
import { percent } from "./scale.js";
import { WordField } from "./wordfield.js";

const COVERED = 80; // pixels at the foot of the window where the buttons of a page may be

export class Editor {
  #made; // what was decided
  #drawn = null; // of that, what is shown
  #ranks; // the best trees, and which of them is shown
  #redraw; // draws when nothing is pressed

  /**
   * `answer` is a sentence as the service gives it and `decisions` what is fixed in it: `heads` and
   * `labels` by word, and what else a page decides with `change`. `decode(decisions)` asks for it again;
   * `best(decisions, k)` for its best trees; `restored(decisions)`, where given, is told of undo and redo.
   * `asked` is what `draw` marks. `besides(token)`, where given, makes what is listed after the relations of
   * a word, and `drawn(decisions)` is called when they are shown. With `confirming`, an arc that is fixed as
   * it is has its label fixed too. `cut(words)`, where given, parses other words of the text. As long as
   * `isLeft` is true, nothing can be decided any more.
   */
  constructor({ answer, decisions, labels, name, file, decode, best, restored, ...more }) {
    const { asked = {}, confirming = false, besides, drawn, cut } = more;
    Object.assign(this, { labels, name, decode, restored, confirming, asked, drawn });
    this.isLeft = false;
    this.#ranks = new BestTrees(best);
    this.conllu = answer.conllu;
    this.#made = new Decisions(
      { decisions: decisions ?? { heads: {}, labels: {} }, answer },
      {
        began: () => this.node.setAttribute("aria-busy", "true"),
        shown: (told) => this.#showPresent(told),
        refused: (error) => this.fail(error),
      },
    );
    const actions = {
      name,
      pick: (dependent, head) => this.#mayDecide(dependent) && this.fix(dependent, head),
      confirm: (dependent) => this.#mayDecide(dependent) && this.confirm(dependent),
      free: (dependent) => this.#mayDecide(dependent) && this.free(dependent),
      relabel: (dependent) => this.#mayDecide() && this.relabel(dependent),
      label: (dependent, label) => this.#mayDecide(dependent) && this.setLabel(dependent, label),
      look: (id, isChosen) => this.#look(id, isChosen),
      laidOut: (layout) => this.#arrange(layout),
      floor: () => this.#floor(),
      mayChoose: () => !this.isLeft,
      besides,
      pickOther: (dependent, number) => {
        // A number is that of a head in the list that is seen, which may be another word's.
        if (this.details.id !== dependent) return this.#look(dependent, this.tree.chosen === dependent);
        const head = this.details.head(number);
        if (head !== undefined) actions.pick(dependent, head);
      },
    };
    this.tree = new TreeView(actions);
    this.details = new Details(actions);
    this.table = new TreeTable(actions);
    this.words = cut ? new WordField({ cut, name }) : null;
    this.toolbar = new Toolbar({
      undo: () => this.undo(),
      redo: () => this.redo(),
      freeAll: () => this.#mayDecide() && this.freeAll(),
      step: (by) => this.step(by),
      turn: () => this.tree.turn(),
      edit: cut ? () => this.editWords() : null,
      download: {
        "CoNLL-U": () => save(`${file}.conllu`, "text/plain", this.toConllu()),
        JSON: () => save(`${file}.json`, "application/json", `${JSON.stringify(this.toJson(), null, 2)}\n`),
        SVG: () => save(`${file}.svg`, "image/svg+xml", svgFile(...this.#shown())),
        PNG: () =>
          pngFile(...this.#shown()).then(
            (blob) => save(`${file}.png`, "image/png", blob),
            (error) => this.fail(error),
          ),
      },
    });
    this.status = element("p", { class: "status", role: "status" });
    this.problem = element("p", { class: "problem", role: "alert", hidden: true });
    this.facts = element("p", { class: "facts" });
    this.work = element("div", { class: "work" }, this.tree.node, this.details.node);
    this.node = element(
      "article",
      { class: "sentence", "aria-label": name },
      element("header", {}, element("h2", {}, answer.text), this.facts),
      this.toolbar.node,
      ...(this.words ? [this.words.node] : []),
      this.work,
      this.status,
      this.problem,
      element("div", { class: "foot" }, this.table.node, this.toolbar.downloads),
    );
    this.node.addEventListener("keydown", (event) => this.#press(event));
    this.#redraw = drawerOf(this.node);
    this.#draw();
    new ResizeObserver(() => this.tree.fit(this.work.clientWidth)).observe(this.work);
  }

  get decisions() {
    return this.#made.present.decisions;
  }

  /** What is decided, even if there is no answer yet. */
  get latest() {
    return this.#made.latest;
  }

  get answer() {
    return this.#made.present.answer;
  }

  /** When what was decided last is shown; false if it could not be taken. */
  get settled() {
    return this.#made.settled;
  }

  /**
   * Whether somebody still works on the sentence; if not, the table has what is so, not what was tried. With
   * a decision about a word, that one is not chosen any more.
   */
  #mayDecide(dependent) {
    if (this.isLeft) this.table.show(this.tokens);
    else if (dependent !== undefined && this.tree.chosen === dependent) this.tree.choose(null);
    return !this.isLeft;
  }

  /** The words of the tree that is shown. */
  get tokens() {
    return this.#drawn.tokens;
  }

  /** Fix the head of a word: the rest is decoded again around it. */
  fix(dependent, head) {
    if (dependent === head) return this.settled;
    const { heads, labels } = this.latest;
    const token = this.tokens[dependent - 1];
    const kept = { ...labels };
    if ((heads[dependent] ?? token.head) !== head) delete kept[dependent]; // it was of another arc
    else if (this.confirming && token.head === head) kept[dependent] ??= token.deprel;
    const says =
      head === 0
        ? `«${token.form}» is fixed as the root.`
        : `The head of «${token.form}» is fixed: «${this.tokens[head - 1].form}».`;
    const arcs = { heads: { ...heads, [dependent]: head }, labels: kept };
    return this.change({ ...this.latest, ...arcs }, says, dependent);
  }

  /** Fix the head of a word as it is: where it was corrected just before, as that is shown then. */
  confirm(dependent) {
    const head = () => this.latest.heads[dependent] ?? this.tokens[dependent - 1].head;
    if (head() === this.tokens[dependent - 1].head) return this.fix(dependent, head());
    return this.#made.afterwards(() => this.fix(dependent, head()));
  }

  /** Let the parser choose the head and the relation of a word again. */
  free(dependent) {
    const heads = { ...this.latest.heads };
    const labels = { ...this.latest.labels };
    delete heads[dependent];
    delete labels[dependent];
    const says = `«${this.tokens[dependent - 1].form}» is free again.`;
    this.change({ ...this.latest, heads, labels }, says, dependent);
  }

  /** Let a person choose a relation; the arc it is of is fixed with it. */
  async relabel(dependent) {
    const token = this.tokens[dependent - 1];
    const before = document.activeElement;
    const label = await chooseLabel({
      labels: this.labels,
      form: token.form,
      current: token.deprel,
      fixed: dependent in this.latest.labels,
      likely: token.deprels,
    });
    if (!before.isConnected) this.#focusAgain(before, dependent);
    if (label !== undefined && this.#mayDecide(dependent)) await this.setLabel(dependent, label, token);
  }

  /** Fix the relation of a word, and the arc it is of; null leaves it to the parser. */
  setLabel(dependent, label, token = this.tokens[dependent - 1]) {
    // Its head may have been corrected just before, and not be shown yet.
    const heads = { [dependent]: token.head, ...this.latest.heads };
    const labels = { ...this.latest.labels };
    if (label === null) delete labels[dependent];
    else labels[dependent] = label;
    const says = label === null ? "is for the parser to choose" : `is fixed: ${label}`;
    const decided = { ...this.latest, heads, labels };
    return this.change(decided, `The relation of «${token.form}» ${says}.`, dependent);
  }

  /** Put the focus where it was before a list was open: an answer has come meanwhile, and all is drawn anew. */
  #focusAgain(before, dependent) {
    if (!this.table.focus(before.dataset.cell)) this.tree.focus(dependent);
  }

  /** Decide something and see what comes of it; `says` is what is announced. */
  change(decisions, says, dependent) {
    const told = { says, dependent, looked: this.details.id, started: performance.now() };
    return this.#made.change(decisions, this.decode, told);
  }

  undo() {
    return this.#travel("undo", "Undone.");
  }

  redo() {
    return this.#travel("redo", "Done again.");
  }

  #travel(way, says) {
    if (!this.#mayDecide()) return;
    const isThere = way === "undo" ? this.#made.canUndo : this.#made.canRedo;
    const isWaiting = this.latest !== this.decisions;
    if (isThere || isWaiting) this.#made.travel(way, this.restored, { says, started: performance.now() });
    else this.status.textContent = `There is nothing to ${way}.`;
  }

  /** Free every word. */
  freeAll() {
    if (Object.keys(this.latest.heads).length === 0) return;
    this.change({ ...this.latest, heads: {}, labels: {} }, "All words are free again.");
  }

  /** Let a person split and join words. */
  editWords() {
    this.words?.open(this.tokens.map((token) => token.form));
  }

  /** Step through the best trees; 0 is the tree of the surest heads. */
  async step(by) {
    if (this.isLeft || (by < 0 && this.#ranks.count === null)) return;
    await this.settled; // the trees are those under what was decided last
    try {
      if (!(await this.#ranks.step(by, () => this.decisions))) return;
    } catch (error) {
      this.fail(error);
      return;
    }
    this.#draw(changedWords(this.tokens, this.#ranks.words(this.answer)));
    this.status.textContent = this.#ranks.says(this.answer);
  }

  /** Show what was decided last; `says` is what is announced. */
  #showPresent({ says, dependent, looked, started }) {
    this.problem.hidden = true;
    this.#ranks.forget();
    const changed = changedWords(this.tokens, this.#ranks.words(this.answer));
    // Who looks at another word by now goes on doing so.
    const isStill = dependent && this.tree.chosen === null && this.details.id === looked;
    this.#draw(changed, isStill ? dependent : this.details.id);
    const others = changed.filter((id) => id !== dependent);
    const names = others.slice(0, 6).map((id) => `«${this.tokens[id - 1].form}»`);
    if (others.length > names.length) names.push("…");
    const rest = others.length
      ? ` ${others.length} other ${others.length === 1 ? "word" : "words"} changed: ${names.join(", ")}.`
      : " Nothing else changed.";
    const milliseconds = Math.max(1, Math.round(performance.now() - started));
    this.node.dataset.milliseconds = milliseconds;
    this.status.textContent = `${says}${rest} `;
    this.status.append(element("span", { class: "time" }, `${milliseconds} ms`));
  }

  /** Say what went wrong; the tree is that of what was taken last. */
  fail(error) {
    this.problem.textContent = error.message;
    this.problem.hidden = false;
    if (this.#drawn.decisions !== this.decisions) this.#ranks.forget();
    this.#draw(); // what could not be done is not shown, not in the table either
  }

  #look(id, isChosen) {
    if (id === null) this.details.id === null || this.details.show(this.tokens, this.details.id, false);
    else this.details.show(this.tokens, id, isChosen);
  }

  /** Put the heads of a word below the tree, or beside one that goes from top to bottom. */
  #arrange({ isDown, isBeside }) {
    this.work.classList.toggle("down", isDown);
    this.work.classList.toggle("side-by-side", isDown && isBeside);
    this.toolbar.showLayout(isDown);
  }

  /** Down to where the window shows a tree that goes from top to bottom: the heads of a word stay in view below it. */
  #floor() {
    if (this.work.classList.contains("side-by-side")) return window.innerHeight - COVERED;
    const { node } = this.details;
    return window.innerHeight - node.offsetHeight - parseFloat(getComputedStyle(node).bottom);
  }

  /** Draw the tree that is to be shown, and the heads of one of its words. */
  #draw(changed = [], looked = this.details.id) {
    this.#drawn = { tokens: this.#ranks.words(this.answer), decisions: this.decisions };
    this.#redraw(() => this.#drawNow(changed, looked));
  }

  #drawNow(changed, looked) {
    const { tokens, decisions } = this.#drawn;
    if (this.latest === decisions) this.node.removeAttribute("aria-busy");
    this.details.isSurest = this.#ranks.rank === 0;
    this.tree.show(tokens, { ...this.asked, multiwords: this.answer.multiwords, changed });
    this.table.show(tokens);
    const { chosen } = this.tree;
    if ((chosen ?? looked) !== null) this.details.show(tokens, chosen ?? looked, chosen !== null);
    const { entropy } = this.answer;
    const logProb = this.#ranks.logProb(this.answer);
    const facts = [];
    if (Number.isFinite(logProb)) facts.push(`tree ${percent(Math.exp(logProb))} probable`);
    if (Number.isFinite(entropy)) facts.push(`entropy ${entropy.toFixed(2)} nats`);
    const constraints = Object.keys(decisions.heads).length;
    if (constraints) facts.push(`${constraints} fixed`);
    this.facts.textContent = facts.join(" · ");
    this.toolbar.show({
      canUndo: this.#made.canUndo,
      canRedo: this.#made.canRedo,
      constraints,
      rank: this.#ranks.rank,
      trees: this.#ranks.count,
    });
    this.drawn?.(decisions);
  }

  /** What the picture of the tree needs, as it is shown. */
  #shown() {
    return [this.tokens, this.answer, { isDown: this.tree.isDown }];
  }

  toConllu() {
    return withTree(this.conllu, this.tokens);
  }

  toJson() {
    return { ...this.answer, log_prob: this.#ranks.logProb(this.answer), tokens: this.tokens, conllu: this.toConllu() };
  }

  #press(event) {
    if (event.target.matches("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key === "z" && !event.shiftKey) this.undo();
      else if (key === "y" || (key === "z" && event.shiftKey)) this.redo();
      else return;
    } else if (key === "[") this.step(-1);
    else if (key === "]") this.step(1);
    else if (key === "u") this.undo();
    else if (key === "t") this.table.toggle();
    else if (key === "v") this.tree.turn();
    else if (key === "w" && this.words) this.editWords();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function changedWords(before, after) {
  return after
    .filter(({ head, deprel }, index) => before[index].head !== head || before[index].deprel !== deprel)
    .map((token) => token.id);
}
