// What can be taken away: CoNLL-U, JSON, and the picture as a file of its own.

import { shape } from "./dom.js";
import { drawDown } from "./down.js";
import { draw } from "./drawing.js";

const DENSITY = 2; // pixels of a PNG file for one of the picture
const LARGEST = 8192; // pixels of a side: browsers make no canvas that is much larger
const CELLS = { id: 0, head: 6, deprel: 7, misc: 9 };

/** CoNLL-U with the heads and relations of these tokens; everything else stays as it is. */
export function withTree(conllu, tokens) {
  const byId = new Map(tokens.map((token) => [String(token.id), token]));
  return conllu
    .split("\n")
    .filter((line) => !line.startsWith("# log_prob"))
    .map((line) => {
      const cells = line.split("\t");
      const token = cells.length === 10 ? byId.get(cells[CELLS.id]) : undefined;
      if (!token) return line;
      cells[CELLS.head] = String(token.head);
      cells[CELLS.deprel] = token.deprel;
      const kept = cells[CELLS.misc]
        .split("|")
        .filter((item) => item !== "_" && !/^(Head|Deprel)Prob=/.test(item));
      const probs = [`HeadProb=${token.prob.toFixed(4)}`, `DeprelProb=${token.deprel_prob.toFixed(4)}`];
      cells[CELLS.misc] = [...kept, ...probs].join("|");
      return cells.join("\t");
    })
    .join("\n");
}

const STYLE = `
.treecrf-tree { font-family: "Inter", "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; background: #fff; color: #1f2328; }
text { fill: currentColor; text-anchor: middle; }
.form { font-size: 17px; font-weight: 500; }
.tag, .prob { font-size: 11.5px; }
.tag { opacity: 0.7; }
.prob { font-weight: 600; }
.label text { font-size: 12.5px; font-weight: 500; }
.label rect, .box { fill: none; }
.line { fill: none; stroke: currentColor; stroke-width: 2; }
.tip { fill: currentColor; }
.sure { color: #0b5cad; } .likely { color: #5b4bc4; } .unsure { color: #a8328f; }
.doubtful { color: #bd4b00; } .unlikely { color: #c01c28; }
.sure .line { stroke-width: 2.5; } .unsure .line { stroke-dasharray: 9 3; }
.doubtful .line { stroke-dasharray: 5 4; } .unlikely .line { stroke-dasharray: 2 4; }
.bracket { fill: none; stroke: #57606a; stroke-width: 1.5; } .written { font-size: 12.5px; fill: #57606a; }
.fixed .label rect { fill: currentColor; } .fixed .label text { fill: #fff; }
`;

/** The picture of a tree as the text of an SVG file that needs nothing else. */
export function svgFile(tokens, answer, layout) {
  return textOf(pictureOf(tokens, answer, layout).picture);
}

/** The same picture as pixels: a Blob with a PNG file. */
export async function pngFile(tokens, answer, layout) {
  const { picture, size } = pictureOf(tokens, answer, layout);
  const address = URL.createObjectURL(new Blob([textOf(picture)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(DENSITY, LARGEST / size.width, LARGEST / size.height);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [size.width * scale, size.height * scale];
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob === null) throw new Error("This browser makes no PNG file so large: download SVG instead.");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** `layout` says whether it goes from top to bottom. */
function pictureOf(tokens, { text: title, multiwords }, { isDown }) {
  const drawing = (isDown ? drawDown : draw)(tokens, { target: false, multiwords });
  const { picture } = drawing;
  // Text in a node: the serialiser escapes what a token holds.
  picture.prepend(shape("title", {}, clean(title)), shape("style", {}, STYLE));
  picture.setAttribute("role", "img");
  for (const node of picture.querySelectorAll("text, title")) node.textContent = clean(node.textContent);
  return drawing;
}

function textOf(picture) {
  return new XMLSerializer().serializeToString(picture) + "\n";
}

function clean(text) {
  // XML has no place for these, escaped or not.
  return text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\ufffd");
}

/** Have the browser save a text or a Blob as a file. */
export function save(name, type, content) {
  const link = document.createElement("a");
  const whole = typeof content === "string" ? `${type};charset=utf-8` : type;
  link.href = URL.createObjectURL(new Blob([content], { type: whole }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
