// The picture of a tree in the layout that fits the window, as large as there is room and can be read.

import { drawDown } from "./down.js";
import { draw } from "./drawing.js";

const READABLE = 0.72; // a tree is drawn smaller down to this scale; where that is too wide, from top to bottom
const BESIDE = 760; // pixels that a tree and the heads of a word beside it need
const SHARE = 0.6; // of them for the tree

/**
 * Draw a tree with the options of `draw`. `layout` is `across`, `down` or `auto`, which is the first that fits;
 * `room` are the pixels for the tree and what is beside it. Returns the drawing with its `scale`, and whether
 * there is room beside a tree that goes from top to bottom.
 */
export function drawFitting(tokens, marks, { layout, room }) {
  const isBeside = room >= BESIDE;
  const across = layout === "down" ? null : draw(tokens, marks);
  if (across && (layout === "across" || across.size.width * READABLE <= room)) {
    return { ...scaled(across, room), isBeside };
  }
  const own = isBeside ? room * SHARE : room;
  return { ...scaled(drawDown(tokens, { ...marks, room: own }), own), isBeside };
}

function scaled(drawing, room) {
  const { picture, size } = drawing;
  const scale = Math.min(1, Math.max(READABLE, room / size.width));
  picture.setAttribute("width", Math.floor(size.width * scale));
  picture.setAttribute("height", Math.ceil(size.height * scale));
  return { ...drawing, scale };
}
