// Changes that whoever approves a call may make in its arguments, because a rule says so.
import { html } from "./html.js";
import { comparison } from "./changes.js";
import { kindOf, Members, parse, print } from "./exact.js";
import { choicesOf, contentOf, fields, fieldsOf } from "./form.js";

// find returns an argument by its name, or else by the path to it.
function find(args, name) {
  const inside = (o, key) => o instanceof Members ? o.get(key) : undefined, own = inside(args, name);
  return own === undefined ? name.split(".").reduce(inside, args) : own;
}

// differences returns how the named arguments differ: [name, before, after].
export const differences = (before, after, names) => names.map((name) => [name, find(before, name), find(after, name)]);

// Edit is a form for the arguments that may be changed. Its controls are made from the schema of
// the tool, as far as that is known, and from the values.
export class Edit {
  changes = []; // as of differences
  #before; #schema;
  #problems = new Map(); // what the agent says of what was typed, by names

  constructor({ edit: names, exact }, schema = {}) {
    this.#before = new Map(names.map((name) => [name, find(exact, name)]));
    const properties = Object.fromEntries(names.map((name) => [name, controlOf(schema, name, this.#before.get(name))]));
    this.#schema = { properties, required: names.filter((name) => properties[name].needed) };
  }

  // read takes what a form holds. What cannot be read says so at its control.
  read(form) {
    const content = contentOf(this.#schema, form);
    this.#problems.clear();
    this.changes = fieldsOf(this.#schema).map(({ name, id, property }) => {
      const before = this.#before.get(name);
      let after = content.get(name);
      if (property.json) after = asJSON(property.default = after, form.elements[id]);
      else if (typeof before === "string" && !property.needed) property.default = after = withBreaks(after ?? "", before);
      else property.default = after;
      return [name, before, after];
    }).filter(([, before, after]) => after !== undefined && print(before) !== print(after));
  }

  // refuse takes what the agent says of the changes, and returns what is about none of them.
  refuse(text) {
    const rest = [];
    for (const part of text.replace("edit: ", "").split("; ")) {
      const name = [...this.#before.keys()].find((n) => part.startsWith(`"${n}"`) || part.startsWith(`"${n}.`));
      if (name) this.#problems.set(name, [this.#problems.get(name), part.replace(`"${name}": `, "")].filter(Boolean).join("; "));
      else rest.push(part);
    }
    return rest.join("; ");
  }

  view(prefix, changed) {
    const n = this.changes.length;
    return html`<div class="edit" role="group" aria-label="Change before it runs" @input=${(e) => { this.read(e.target.form); changed(); }}>
      <p class="quiet">A rule lets you change these arguments, and no others. All rules judge the changed call again.</p>
      ${fields(this.#schema, prefix + "-edit", this.#problems)}
      <section class="what"><h4>What runs instead</h4><p class="quiet" role="status">${n ? `${n} ${n === 1 ? "argument is" : "arguments are"} changed` : "Nothing is changed: it runs as it was asked for."}</p>
        ${comparison(this.changes)}</section></div>`;
  }
}

// controlOf returns the property of a form with which a value is changed: as JSON if no other fits.
function controlOf(root, name, value) {
  const about = { title: name, default: value ?? undefined };
  try {
    const p = { ...propertyOf(root, name, value), ...about, json: false };
    const choices = choicesOf(p.type === "array" ? p.items ?? {} : p), has = (v) => choices.some((c) => print(c.value) === print(v));
    const values = p.type === "array" ? value ?? [] : [value ?? []].flat();
    if (choices && values.every(has)) return { ...p, needed: values.length > 0 };
    if (["string", "boolean"].includes(p.type) || /^(?:number|integer)$/.test(p.type) && Number.isFinite(Number(value?.source ?? 0))) return { ...p, enum: undefined, oneOf: undefined, anyOf: undefined, needed: values.length > 0 && p.type !== "string" };
    about.description = p.description;
  } catch { /* the schema is none */ }
  return { ...about, default: value === undefined ? value : print(value), description: [about.description, "Written as JSON."].filter(Boolean).join(" "), type: "string", json: true, needed: value !== undefined };
}

// propertyOf returns what a schema says of an argument, for a value of this kind.
function propertyOf(root, name, value) {
  const resolve = (s) => /^#\//.test(s?.$ref) ? s.$ref.slice(2).split("/").reduce((o, key) => o?.[key], root) : s;
  const inside = (s, key) => resolve(resolve(s)?.properties?.[key]);
  const s = inside(root, name) ?? name.split(".").reduce(inside, root) ?? {};
  const options = [s, ...(s.anyOf ?? s.oneOf ?? []).map(resolve)], types = options.flatMap((o) => o.type ?? []);
  const kind = value === undefined || value === null ? types.find((t) => t !== "null") : kindOf(value);
  const type = kind === "number" && types.includes("integer") && !types.includes(kind) ? "integer" : kind;
  const p = { ...s, ...options.find((o) => [o.type].flat().includes(type)), type };
  return {
    ...p, items: resolve(p.items), description: s.description ?? s.title ?? p.description, pattern: undefined,
    format: p.format === "date" && /^(?:\d{4}-\d\d-\d\d)?$/.test(value ?? "") ? p.format : undefined, maxLength: /[\r\n]/.test(value) ? undefined : p.maxLength,
  };
}

function asJSON(text, control) {
  let value, problem = "";
  try {
    if (text !== undefined && JSON.parse(text) !== undefined) value = parse(text);
  } catch {
    problem = 'This is not JSON: a number, true, false, null, a text in quotation marks, [a list] or {"an": "object"}.';
  }
  control.setCustomValidity(problem);
  return value;
}

// withBreaks returns a text with the line breaks of the one before, which controls do not keep.
function withBreaks(text, before) {
  if (text === before.replace(/\r\n?/g, "\n")) return before;
  return before.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
}
