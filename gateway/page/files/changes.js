// What a call changes in a text, where its arguments say so: as lines that go and lines that come.
import { html, nothing } from "./html.js";
import { Members, print } from "./exact.js";
import { reveal } from "./reveal.js";

const pairs = [["old_text", "new_text"], ["oldText", "newText"], ["old_string", "new_string"], ["old_str", "new_str"], ["old_content", "new_content"], ["before", "after"], ["search", "replace"]];
const patch = /^(?:diff --git|--- |@@ -\d)/m;
const most = 2000; // lines that are compared

// changes shows the changes that the arguments of a call name, nothing if they name none.
export function changes(args, tool) {
  if (!(args instanceof Members)) return nothing;
  const found = [args, ...args.list.flatMap(([, v]) => Array.isArray(v) ? v.filter((x) => x instanceof Members) : [])].flatMap(changesIn);
  if (found.length) return html`<section class="what"><h4>What changes</h4>${found.map((lines) => block(lines, "What changes"))}</section>`;
  return replaces(tool, args) ? html`<p class="notice">This seems to write a whole file: what it holds now is replaced, and cannot be shown here.</p>` : nothing;
}

// comparison shows how values differ: [name, before, after]. before may be undefined. Texts are shown as
// they are, unless something that is no text, or nothing, is on the other side.
export const comparison = (list) => html`<dl class="arguments">${list.map(([name, ...values]) => {
  const [before, after] = values.every((v) => v && typeof v === "string") ? values : values.map((v) => print(v));
  return html`<div><dt>${reveal(name)}</dt><dd>${block(before === undefined ? after.split("\n").map((line) => ["new", line]) : ofTexts(before, after), "Change of " + name)}</dd></div>`;
})}</dl>`;

// replaces tells that a call writes a whole file, as far as its names say.
const replaces = (tool, args) => /write|save|create/i.test(tool) && ["overwrite", undefined].includes(args.get("mode")) && [/path|file/, /content|text|data/].every((name) => args.list.some(([n]) => name.test(n)));

function changesIn(m) {
  const pair = pairs.find(([a, b]) => typeof m.get(a) === "string" && typeof m.get(b) === "string");
  const patches = m.list.filter(([, v]) => typeof v === "string" && patch.test(v) && v.length < 200_000).map(([, v]) => ofPatch(v));
  return pair ? [ofTexts(m.get(pair[0]), m.get(pair[1])), ...patches] : patches;
}

const ofPatch = (text) => text.split("\n").slice(0, most).map((line) => /^(?:\+\+\+|---|@@|diff |index )/.test(line) ? ["at", line] : line[0] === "+" ? ["new", line.slice(1)] : line[0] === "-" ? ["old", line.slice(1)] : ["same", line.slice(1)]);

// ofTexts compares two texts line by line: what they begin and end with is the same, and of the
// rest the longest common lines, if it is not too long.
export function ofTexts(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines) => lines.map((line) => ["same", line]);
  return [...same(a.slice(0, start)), ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(a.slice(a.length - end))];
}

function middle(a, b) {
  if (a.length * b.length > most * 500) return [...a.map((l) => ["old", l]), ...b.map((l) => ["new", l])];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  const out = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.push(["same", a[i++]]); j++; }
    else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1])) out.push(["old", a[i++]]);
    else out.push(["new", b[j++]]);
  }
  return out;
}

const near = 3; // lines of the same that are shown around a change

// block leaves out long runs of lines that stay the same.
function block(lines, label) {
  const shown = lines.map(([kind], n) => kind !== "same" || lines.slice(Math.max(0, n - near), n + near + 1).some(([k]) => k !== "same"));
  const signs = { new: "+", old: "−", same: " ", at: " " }, said = { new: "added: ", old: "removed: " };
  return html`<div class="diff" tabindex="0" role="group" aria-label=${label}>${lines.map(([kind, line], n) => shown[n]
    ? html`<div class=${kind}><span class="sign" aria-hidden="true">${signs[kind]}</span><span class="unseen">${said[kind] ?? ""}</span>${reveal(line)}</div>`
    : shown[n - 1] ?? true ? html`<div class="at">… the same …</div>` : nothing)}</div>`;
}
