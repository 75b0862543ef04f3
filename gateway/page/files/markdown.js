// Markdown as templates, block by block, so that a growing text costs its last block.
import { textBlock } from "./arguments.js";
import { html } from "./html.js";
import { revealed } from "./reveal.js";

let blocks, loading; // blocks.js: most of the script, which the first approvals of an inbox do without
let changed = () => {};

// whenLoaded has the page drawn again by f when texts can be shown as Markdown.
export function whenLoaded(f) { changed = f; }

export function load() {
  loading ??= import("./blocks.js").then((module) => { blocks = module; changed(); }, () => { loading = undefined; });
}

const rendered = new Map();

function render(token, links) {
  const key = token.raw + (token.raw.includes("[") ? JSON.stringify(links) : "");
  if (!rendered.has(key)) {
    if (rendered.size > 2000) rendered.clear();
    rendered.set(key, blocks.render(token));
  }
  return rendered.get(key);
}

// tooDeep finds lists and quotations in so many others that reading them takes seconds.
const tooDeep = /^(?:[ \t]{64,}(?:>|[-*+] |\d{1,9}[.)] )|(?:[ \t]*(?:>|[-*+] |\d{1,9}[.)] )){32,})/m;

const lexed = new Map();

// tokensOf keeps what it read: every text is drawn again with every change.
function tokensOf(text) {
  if (!lexed.has(text)) {
    if (lexed.size > 500) lexed.clear();
    lexed.set(text, blocks.tokensOf(revealed(text)));
  }
  return lexed.get(text);
}

// markdown returns a text as a template. One that is nested too deep is shown as it was written.
export function markdown(text) {
  if (tooDeep.test(text)) return textBlock(text, "the text");
  if (!blocks) {
    load();
    return html`<div class="markdown unread">${revealed(text)}</div>`;
  }
  try {
    const tokens = tokensOf(text);
    return html`<div class="markdown">${tokens.filter((t) => t.type !== "space").map((t) => html`<div .innerHTML=${render(t, tokens.links)}></div>`)}</div>`;
  } catch {
    return textBlock(text, "the text");
  }
}
