// The part of Markdown that needs large packages, loaded when the first text is shown: blocks of
// Markdown to sanitised HTML.
import { Marked } from "./npm/marked-18.2.1/marked.esm.js";
import DOMPurify from "./npm/dompurify-3.4.18/purify.es.mjs";

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

// tokensOf returns the blocks of a text.
export const tokensOf = (text) => marked.lexer(text);

// render returns the HTML of a block.
export const render = (token) => DOMPurify.sanitize(marked.parser([token]), allowed);
