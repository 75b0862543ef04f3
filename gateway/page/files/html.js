export { html, render, nothing } from "./npm/lit-html-3.3.3/lit-html.js";
export { repeat } from "./npm/lit-html-3.3.3/directives/repeat.js";
