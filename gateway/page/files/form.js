// A form from the flat JSON Schema of a question, or of arguments that may be changed.
import { html, nothing } from "./html.js";
import { Members, Numeral, print } from "./exact.js";
import { reveal, revealed } from "./reveal.js";

// fieldsOf returns the fields of a schema, in order.
export function fieldsOf(schema) {
  const required = new Set(schema?.required ?? []);
  return Object.entries(schema?.properties ?? {}).map(([name, property], n) => ({ name, id: `field-${n}`, property, required: required.has(name) }));
}

// choicesOf returns the values that a property may have, with their labels, or nothing.
export function choicesOf({ enum: values, enumNames, oneOf, anyOf }) {
  const all = values?.map((value, n) => ({ value, label: enumNames?.[n] ?? String(value) })) ?? (oneOf ?? anyOf)?.map((o) => ({ value: o.const, label: o.title ?? String(o.const) }));
  return all?.every((c) => c.value !== undefined) ? all : undefined;
}

// fields shows the controls of a form, with what is wrong with them by the names of their
// properties. prefix makes their IDs unique.
export const fields = (schema, prefix, problems) => fieldsOf(schema).map((f) => field(f, `${prefix}-${f.id}`, problems?.get(f.name)));

function field(f, id, problem) {
  const { title, description } = f.property;
  const label = html`${reveal(String(title || f.name))} ${f.required ? html`<span class="required">required</span>` : nothing}`;
  const hint = description ? html`<p class="hint" id=${id + "-hint"}>${reveal(String(description))}</p>` : nothing;
  const failure = problem ? html`<p class="failure" id=${id + "-problem"}>${reveal(problem)}</p>` : nothing;
  const describedBy = [description && id + "-hint", problem && id + "-problem"].filter(Boolean).join(" ") || nothing;
  if (f.property.type === "array") {
    return html`<fieldset aria-describedby=${describedBy}><legend>${label}</legend>${hint}
      ${(choicesOf(f.property.items ?? {}) ?? []).map((c, n) => html`<label class="choice"><input type="checkbox" name=${f.id} value=${n}
        ?checked=${(f.property.default ?? []).some((v) => isSame(v, c.value))}> ${reveal(c.label)}</label>`)}${failure}</fieldset>`;
  }
  return html`<div class="field"><label for=${id}>${label}</label>${hint}${control(f, id, describedBy, problem ? "true" : nothing)}${failure}</div>`;
}

const isSame = (a, b) => print(a) === print(b);
const formats = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };

function control(f, id, describedBy, invalid) {
  const p = f.property, isNumber = /^(?:integer|number)$/.test(p.type), value = p.default;
  const choices = p.type === "boolean" ? [{ value: true, label: "Yes" }, { value: false, label: "No" }] : choicesOf(p);
  if (choices) {
    return html`<select id=${id} name=${f.id} ?required=${f.required} aria-describedby=${describedBy} aria-invalid=${invalid}>
      <option value="">${f.required ? "Choose…" : "No answer"}</option>
      ${choices.map((c, n) => html`<option value=${n} ?selected=${isSame(value, c.value)}>${revealed(String(c.label))}</option>`)}</select>`;
  }
  if (p.type === "string" && !formats[p.format] && !(p.maxLength <= 80)) {
    return html`<textarea id=${id} name=${f.id} rows="2" minlength=${p.minLength ?? nothing} maxlength=${p.maxLength ?? nothing} ?required=${f.required}
      aria-describedby=${describedBy} aria-invalid=${invalid} .defaultValue=${String(value ?? "")}></textarea>`;
  }
  return html`<input id=${id} name=${f.id} type=${isNumber ? "number" : formats[p.format] ?? "text"} step=${p.type === "integer" ? 1 : isNumber ? "any" : nothing}
    min=${p.minimum ?? nothing} max=${p.maximum ?? nothing} minlength=${p.minLength ?? nothing} maxlength=${p.maxLength ?? nothing} pattern=${p.pattern ? `.*(?:${p.pattern}).*` : nothing}
    value=${typeof value === "string" ? value : print(value) ?? nothing} ?required=${f.required} aria-describedby=${describedBy} aria-invalid=${invalid}>`;
}

// contentOf returns what was filled in, with numbers as they were written. Fields without an answer are left out.
export function contentOf(schema, form) {
  const data = new FormData(form);
  const members = [];
  for (const f of fieldsOf(schema)) {
    const v = f.property.type === "array" ? data.getAll(f.id).map((n) => choicesOf(f.property.items)[n].value) : valueOf(f, data.get(f.id) ?? "");
    if (v !== undefined && !(Array.isArray(v) && v.length === 0 && !f.required)) members.push([f.name, v]);
  }
  return new Members(members);
}

function valueOf(f, text) {
  const p = f.property;
  if (text === "") return f.required && p.type === "string" && !choicesOf(p) ? "" : undefined;
  if (p.type === "boolean") return text === "0";
  const choices = choicesOf(p);
  if (choices) return choices[text].value;
  if (p.type === "integer" || p.type === "number") return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? new Numeral(text) : Number(text);
  return p.format === "date-time" ? new Date(text).toISOString() : text;
}
