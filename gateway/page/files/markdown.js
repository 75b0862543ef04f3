// Markdown to sanitised HTML, block by block, so that a growing text costs its last block.
import { Marked } from "./npm/marked-18.2.1/marked.esm.js";
import DOMPurify from "./npm/dompurify-3.4.18/purify.es.mjs";
import { textBlock } from "./arguments.js";
import { html } from "./html.js";
import { revealed } from "./reveal.js";

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => text.replace(/[&<>"']/g, (c) => escapes[c]);

const marked = new Marked({
  gfm: true, breaks: true,
  renderer: {
    html: ({ text }) => escape(text), // shown as it was written
    image: ({ href, text }) => `<a href="${escape(href)}">${escape(text || "image")}</a>`, // nothing is loaded from elsewhere
    heading({ tokens, depth }) { return `<h${Math.min(6, depth + 2)}>${this.parser.parseInline(tokens)}</h${Math.min(6, depth + 2)}>`; }, // below those of the page
    checkbox: ({ checked }) => checked ? "☑ " : "☐ ",
  },
});

const allowed = {
  ALLOWED_TAGS: ["a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ALLOWED_ATTR: ["href", "start", "tabindex", "rel", "target", "title"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_TRUSTED_TYPE: true,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
    node.setAttribute("title", node.getAttribute("href") ?? "not a link to a web page");
  }
  if (node.tagName === "PRE") node.setAttribute("tabindex", "0"); // it scrolls
});

const rendered = new Map();

function render(token, links) {
  const key = token.raw + (token.raw.includes("[") ? JSON.stringify(links) : "");
  if (!rendered.has(key)) {
    if (rendered.size > 2000) rendered.clear();
    rendered.set(key, DOMPurify.sanitize(marked.parser([token]), allowed));
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
    lexed.set(text, marked.lexer(revealed(text)));
  }
  return lexed.get(text);
}

// markdown returns a text as a template. One that is nested too deep is shown as it was written.
export function markdown(text) {
  if (tooDeep.test(text)) return textBlock(text, "the text");
  try {
    const tokens = tokensOf(text);
    return html`<div class="markdown">${tokens.filter((t) => t.type !== "space").map((t) => html`<div .innerHTML=${render(t, tokens.links)}></div>`)}</div>`;
  } catch {
    return textBlock(text, "the text");
  }
}
