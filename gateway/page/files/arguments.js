// Arguments of calls, complete.
import { html, nothing } from "./html.js";
import { kindOf, Members, print } from "./exact.js";
import { reveal } from "./reveal.js";

const long = 600, lines = 12;

const kinds = { null: "nothing", array: "list", boolean: "yes or no" };

// textBlock shows a text, of a long one the beginning until somebody wants all of it.
export function textBlock(text, label) {
  const height = text.split("\n").length;
  if (text.length <= long && height <= lines) return html`<pre class="value">${reveal(text)}</pre>`;
  const all = `All of it: ${text.length.toLocaleString("en")} characters in ${height.toLocaleString("en")} ${height === 1 ? "line" : "lines"}`;
  const beginning = text.split("\n").slice(0, lines).join("\n").slice(0, long);
  return html`<pre class="value">${reveal(beginning)} <span class="cut">… cut here</span></pre>
    <details class="whole"><summary>${all}</summary><pre class="value" tabindex="0" role="group" aria-label=${`All of ${label}`}>${reveal(text)}</pre></details>`;
}

const shown = (v, label) => v === "" ? html`<span class="quiet">an empty text</span>` : textBlock(typeof v === "string" ? v : print(v), label);

// argumentLine is the arguments of a row in a list, as far as they fit a line.
export function argumentLine(a) {
  const text = a.tool_args_preview ?? (a.tool_args && Object.entries(a.tool_args).map(([n, v]) => `${n}: ${typeof v === "string" ? v : JSON.stringify(v)}`).join(", ")) ?? "";
  return reveal(text.slice(0, 200).replaceAll("\n", " "));
}

// argumentTable shows every argument of a call, as it was written.
export function argumentTable(args) {
  if (args === undefined || args === null) return html`<p class="quiet">No arguments.</p>`;
  if (!(args instanceof Members)) return shown(args, "the argument");
  if (args.list.length === 0) return html`<p class="quiet">No arguments.</p>`;
  return html`<dl class="arguments">${args.list.map(([name, v]) => html`<div>
    <dt>${reveal(name)} ${typeof v === "string" ? nothing : html`<span class="type">${kinds[kindOf(v)] ?? kindOf(v)}</span>`}</dt><dd>${shown(v, name)}</dd></div>`)}</dl>`;
}
