// Texts with their invisible characters visible.
import { html } from "./html.js";

// hidden are characters that are invisible or change the order of others. The space, the line
// break and the selector of coloured emoji are not among them.
const hidden = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]/u;
const pieces = new RegExp(`(${hidden.source})`, "u");
const harmless = new Set([" ", "\n", "\uFE0F"]);
const names = { "\t": "\\t", "\r": "\\r" };

// isPlain reports whether a text is ASCII without control characters, as most are: this is much
// faster than the classes of Unicode.
const isPlain = (text) => !/[^ -~\n]/.test(text);
const isVisible = (text) => isPlain(text) || !hidden.test(text);

const label = (c) => names[c] ?? "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

// reveal returns a text to be shown, with the code points of characters that nobody would see.
export function reveal(text) {
  if (isVisible(text)) return text;
  const out = [];
  let plain = "";
  for (const piece of text.split(pieces)) {
    if (!hidden.test(piece) || harmless.has(piece)) { plain += piece; continue; }
    out.push(plain, html`<span class="hidden-character" title="a character that is invisible or changes the order of others">${label(piece)}</span>`);
    plain = "";
  }
  return [...out, plain];
}

// revealed returns the same as a plain text.
export const revealed = (text) => isVisible(text)
  ? text : text.split(pieces).map((p) => hidden.test(p) && !harmless.has(p) ? `⟨${label(p)}⟩` : p).join("");
