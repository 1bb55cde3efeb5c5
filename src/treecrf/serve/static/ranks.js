// The best trees of a sentence under what is fixed in it: asked for once, and stepped through.

import { percent } from "./scale.js";

const COUNT = 5;

export class BestTrees {
  #ask;
  #found = null; // the answer with the best trees, once somebody asked
  #asking = 0; // how often they were asked for
  rank = 0; // of the tree that is shown; 0 is that of the surest heads

  /** `ask(decisions, k)` gives the sentence with its k best trees and all marginals. */
  constructor(ask) {
    this.#ask = ask;
  }

  /** How many are known, or null. */
  get count() {
    return this.#found?.best.length ?? null;
  }

  /** Forget them: they are those under what was decided before. */
  forget() {
    this.#found = null;
    this.rank = 0;
  }

  /** Step to a better or a worse tree, under what `decided()` says; whether another one is to be shown. */
  async step(by, decided) {
    if (this.#found === null) {
      const asking = (this.#asking += 1);
      const decisions = decided();
      const isStale = () => asking !== this.#asking || decisions !== decided();
      try {
        const found = await this.#ask(decisions, COUNT);
        if (isStale()) return false;
        this.#found = found;
      } catch (error) {
        if (isStale()) return false;
        throw error;
      }
    }
    const before = this.rank;
    this.rank = Math.min(Math.max(before + by, 0), this.count);
    return this.rank !== before;
  }

  /** The words of a sentence in the tree that is shown. */
  words({ tokens }) {
    if (this.rank === 0) return tokens;
    const { best, marginals } = this.#found;
    const { heads, deprels, deprel_probs: probs } = best[this.rank - 1];
    return tokens.map((token, index) => ({
      ...token,
      head: heads[index],
      deprel: deprels[index],
      prob: marginals[token.id][heads[index]],
      deprel_prob: probs[index],
      deprels: heads[index] === token.head ? token.deprels : [], // they are given the head
    }));
  }

  /** The log-probability of the tree that is shown. */
  logProb({ log_prob: surest }) {
    return this.rank ? this.#found.best[this.rank - 1].log_prob : surest;
  }

  /** What is announced of the tree that is shown. */
  says(answer) {
    if (this.rank === 0) return "The tree of the surest heads.";
    const logProb = this.logProb(answer);
    const chance = logProb === null ? "" : `, ${percent(Math.exp(logProb))} probable`;
    return `Tree ${this.rank} of the ${this.count} best${chance}.`;
  }
}
