// Names of Universal Dependencies in plain words, as `treecrf.explain` has them (treebank/glossary.py).

import { get } from "./api.js";

let meanings = new Map();

/** Ask the service for the meanings; without them names stay unexplained. */
export async function loadGlossary() {
  try {
    meanings = new Map(Object.entries(await get("api/glossary")));
  } catch {
    // A tree can be read without.
  }
}

/** The meaning of a relation, a universal tag, a feature or a feature with its value; null if unknown. */
export function explain(name) {
  if (name.includes("=")) return explainFeature(name);
  if (meanings.has(name)) return meanings.get(name);
  const [relation, ...subtype] = name.split(":");
  const isKnown = subtype.length > 0 && relation === relation.toLowerCase() && meanings.has(relation);
  return isKnown && subtype.join(":") ? `${meanings.get(relation)} (${subtype.join(":")})` : null;
}

/** A name with its meaning, where that is known. */
export function explained(name) {
  const meaning = explain(name);
  return meaning === null ? name : `${name}: ${meaning}`;
}

function explainFeature(feature) {
  const at = feature.indexOf("=");
  const values = feature.slice(at + 1);
  const name = feature.slice(0, at).split("[")[0]; // Number[psor]
  const kind = meanings.get(name) ?? null;
  if (kind === null || values === "Yes") return kind;
  const known = values.split(",").map((value) => meanings.get(`${name}=${value}`) ?? value);
  return `${kind}: ${known.join(" or ")}`;
}
