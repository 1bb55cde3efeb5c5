// A sentence of the queue, and how what is decided about it is saved.

import { post } from "../api.js";
import { addressOf } from "./people.js";

export class Item {
  #known; // the versions that the file may have of it, the last one sent last

  /**
   * `answer` is the sentence as the service gives it. `saved(item, answer)` is called when something is saved,
   * and `newer(item, error)` when the file has something that this page has not seen.
   */
  constructor(answer, { saved, newer }) {
    const { place, number, key, state, known, asked, written, original, text } = answer;
    const { heads, labels, tags, tokens, comment, flag } = answer;
    Object.assign(this, { place, number, key, state, asked, written, original, text, saved, newer });
    this.decisions = { heads, labels, tags, tokens, comment, flag }; // when it was opened
    this.next = answer.progress.next;
    this.#known = known;
  }

  /** The address of the sentence, or of something of it. */
  address(path = "", more = {}) {
    return addressOf(`api/annotate/${this.place}${path}`, more);
  }

  /**
   * Save what is decided; the tree around that. It is sent at once, so that closing the page does not stop it:
   * of two that are under way, the service may see the second first, and then refuses the first, which did not
   * know of it.
   */
  async save(decisions, state) {
    const version = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const { key } = this;
    const known = this.#known;
    this.#known = [...known, version];
    try {
      const decision = { ...decisions, key, version, known, state };
      const answer = await post(this.address(), decision, { keepalive: true });
      const at = this.#known.indexOf(version);
      if (at < 0) return answer.sentence; // a later one is saved already, and told
      this.#known = [...answer.known, ...this.#known.slice(at + 1)]; // what was before it does not come back
      this.state = answer.state;
      this.next = answer.progress.next;
      this.saved(this, answer);
      return answer.sentence;
    } catch (error) {
      const isLast = this.#known.at(-1) === version;
      // Without an answer of the service it may have been saved all the same.
      if (error.status >= 400 && error.status < 500) this.#known = this.#known.filter((each) => each !== version);
      if (error.status === 409 && isLast) this.newer(this, error);
      throw error;
    }
  }
}
