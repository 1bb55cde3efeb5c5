// What a word is, beside its place in the tree: its lemma, tags and features, with what they mean.

import { element } from "./dom.js";
import { explain } from "./glossary.js";

/** A line with the lemma, the tags and the features of a word; null where none is known. */
export function analysisOf(token) {
  const { lemma, upos, xpos, feats } = token;
  const items = [
    lemma === null ? null : element("span", {}, "lemma ", element("b", { class: "quoted" }, lemma)),
    upos === null ? null : element("span", {}, named(upos), meaning(upos)),
    xpos === null ? null : element("span", {}, named(xpos)),
    ...featuresOf(feats).map((feature) => element("span", { class: "feature" }, named(feature))),
  ].filter((item) => item !== null);
  return items.length ? element("p", { class: "analysis" }, ...items) : null;
}

/** The features of a word, a text each. */
export function featuresOf(feats) {
  return Object.entries(feats ?? {}).map(([name, value]) => `${name}=${value}`);
}

function named(name) {
  const says = explain(name);
  return says === null ? element("span", {}, name) : element("abbr", { title: says }, name);
}

function meaning(name) {
  const says = explain(name);
  return says === null ? null : ` ${says}`;
}
