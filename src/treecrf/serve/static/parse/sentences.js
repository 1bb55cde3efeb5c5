// The sentences of a text that was parsed: an editor each, whose words can be changed, too.

import { post } from "../api.js";
import { Editor } from "../editor.js";
import { findWords, movedDecisions, withText } from "../words.js";

export class Sentences {
  #model;
  #labels;
  #first; // the words of each sentence as they were cut first

  /** `answer` is that of the service to a text; `labels` are the relations of its model. */
  constructor(answer, { text, labels }) {
    this.text = text;
    this.#model = answer.model;
    this.#labels = labels;
    this.#first = answer.sentences.map(formsOf);
    this.editors = answer.sentences.map((sentence, index) => this.#edit(index, sentence));
  }

  get model() {
    return this.#model;
  }

  /** What was changed, as links have it. */
  get changed() {
    return this.editors.flatMap((editor, index) => {
      const words = formsOf(editor.answer);
      const { heads, labels } = editor.decisions;
      const isNew = words.join("\n") !== this.#first[index].join("\n");
      return isNew || Object.keys(heads).length ? [{ sentence: index + 1, words, heads, labels }] : [];
    });
  }

  /** Parse sentences again as a link has them. */
  async change(changed) {
    for (const { sentence, words, heads, labels } of changed) {
      if (!this.editors[sentence - 1]) throw new Error(`The link is about sentence ${sentence}, and there is none.`);
      await this.#cut(sentence - 1, words, () => ({ heads, labels }));
    }
  }

  #edit(index, answer, decisions) {
    const ask = (decided, more = {}) => this.#ask(formsOf(answer), decided, more);
    return new Editor({
      answer,
      decisions,
      labels: this.#labels,
      name: `Sentence ${index + 1}`,
      file: `sentence-${index + 1}`,
      decode: async (decided) => placed(await ask(decided), answer),
      best: (decided, k) => ask(decided, { topk: k, marginals: true }),
      cut: async (words) => {
        const editor = this.editors[index];
        await editor.settled;
        const { decisions: decided, answer: present } = editor;
        editor.isLeft = true; // what was decided now would be lost
        try {
          await this.#cut(index, words, (places) => movedDecisions(decided, present.tokens, places));
        } finally {
          editor.isLeft = false;
        }
        this.editors[index].status.textContent = `Parsed again with ${this.editors[index].tokens.length} words.`;
        this.editors[index].tree.focus(1);
      },
    });
  }

  async #ask(forms, { heads, labels }, more) {
    const request = { model: this.#model, tokens: [forms], constraints: [heads], labels: [labels], ...more };
    return (await post("api/parse", request)).sentences[0];
  }

  /** Parse a sentence with other words; `decide(places)` says what is fixed in it then. */
  async #cut(index, words, decide) {
    const { answer: before, conllu: written } = this.editors[index];
    const { forms, places, multiwords } = findWords(words, this.text, before);
    const decisions = decide(places);
    const found = await this.#ask(forms, decisions, {});
    const tokens = found.tokens.map((token, place) => ({ ...token, ...places[place] }));
    const conllu = withText(found.conllu, { before: written, text: this.text, places, multiwords });
    const editor = this.#edit(index, { ...found, text: before.text, tokens, multiwords, conllu }, decisions);
    this.editors[index].node.replaceWith(editor.node);
    this.editors[index] = editor;
  }
}

function formsOf({ tokens }) {
  return tokens.map((token) => token.form);
}

/** An answer about words, with what only the answer about their text has. */
function placed(answer, { text, tokens, multiwords }) {
  const places = tokens.map(({ start, end }) => ({ start, end }));
  const kept = answer.tokens.map((token, index) => ({ ...token, ...places[index] }));
  return { ...answer, text, multiwords, tokens: kept };
}
