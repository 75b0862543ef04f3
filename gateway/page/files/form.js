// A form from the flat JSON Schema of a question.
import { html, nothing } from "./html.js";
import { reveal, revealed } from "./reveal.js";

// fieldsOf returns the fields of a schema, in order.
export function fieldsOf(schema) {
  const required = new Set(schema?.required ?? []);
  return Object.entries(schema?.properties ?? {}).map(([name, property], n) => ({ name, id: `field-${n}`, property, required: required.has(name) }));
}

// choicesOf returns the values that a property may have, with their labels, or nothing.
function choicesOf({ enum: values, enumNames, oneOf, anyOf }) {
  if (values) return values.map((value, n) => ({ value, label: enumNames?.[n] ?? String(value) }));
  return (oneOf ?? anyOf)?.map((o) => ({ value: o.const, label: o.title ?? String(o.const) }));
}

// fields shows the controls of a form. prefix makes their IDs unique.
export const fields = (schema, prefix) => fieldsOf(schema).map((f) => field(f, `${prefix}-${f.id}`));

function field(f, id) {
  const { title, description } = f.property;
  const label = html`${reveal(String(title || f.name))} ${f.required ? html`<span class="required">required</span>` : nothing}`;
  const hint = description ? html`<p class="hint" id=${id + "-hint"}>${reveal(String(description))}</p>` : nothing;
  const describedBy = description ? id + "-hint" : nothing;
  if (f.property.type === "array") {
    return html`<fieldset aria-describedby=${describedBy}><legend>${label}</legend>${hint}
      ${(choicesOf(f.property.items ?? {}) ?? []).map((c, n) => html`<label class="choice"><input type="checkbox" name=${f.id} value=${n}
        ?checked=${(f.property.default ?? []).includes(c.value)}> ${reveal(c.label)}</label>`)}</fieldset>`;
  }
  return html`<div class="field"><label for=${id}>${label}</label>${hint}${control(f, id, describedBy)}</div>`;
}

// boundOf keeps integers, whatever their schema says, within those that are sent exactly.
function boundOf(p, bound, sign) {
  if (p.type !== "integer") return bound ?? nothing;
  return sign * Math.min(sign * (bound ?? Infinity * sign), Number.MAX_SAFE_INTEGER);
}

const formats = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };

function control(f, id, describedBy) {
  const p = f.property;
  const choices = p.type === "boolean" ? [{ value: true, label: "Yes" }, { value: false, label: "No" }] : choicesOf(p);
  if (choices) {
    return html`<select id=${id} name=${f.id} ?required=${f.required} aria-describedby=${describedBy}>
      <option value="">${f.required ? "Choose…" : "No answer"}</option>
      ${choices.map((c, n) => html`<option value=${n} ?selected=${p.default !== undefined && p.default === c.value}>${revealed(String(c.label))}</option>`)}</select>`;
  }
  if (p.type === "integer" || p.type === "number") {
    return html`<input id=${id} name=${f.id} type="number" step=${p.type === "integer" ? 1 : "any"} min=${boundOf(p, p.minimum, -1)} max=${boundOf(p, p.maximum, 1)}
      value=${p.default ?? nothing} ?required=${f.required} aria-describedby=${describedBy}>`;
  }
  if (p.type === "string" && !formats[p.format] && !(p.maxLength <= 80)) {
    return html`<textarea id=${id} name=${f.id} rows="2" minlength=${p.minLength ?? nothing} maxlength=${p.maxLength ?? nothing} ?required=${f.required}
      aria-describedby=${describedBy} .defaultValue=${String(p.default ?? "")}></textarea>`;
  }
  return html`<input id=${id} name=${f.id} type=${formats[p.format] ?? "text"} minlength=${p.minLength ?? nothing} maxlength=${p.maxLength ?? nothing}
    pattern=${p.pattern ?? nothing} value=${p.default ?? nothing} ?required=${f.required} aria-describedby=${describedBy}>`;
}

// contentOf returns what was filled in. Fields without an answer are left out.
export function contentOf(schema, form) {
  const data = new FormData(form);
  const members = [];
  for (const f of fieldsOf(schema)) {
    const v = f.property.type === "array" ? data.getAll(f.id).map((n) => choicesOf(f.property.items)[n].value) : valueOf(f, data.get(f.id) ?? "");
    if (v !== undefined && !(Array.isArray(v) && v.length === 0 && !f.required)) members.push([f.name, v]);
  }
  return Object.fromEntries(members);
}

function valueOf(f, text) {
  const p = f.property;
  if (text === "") return f.required && p.type === "string" && !choicesOf(p) ? "" : undefined;
  if (p.type === "boolean") return text === "0";
  const choices = choicesOf(p);
  if (choices) return choices[text].value;
  if (p.type === "integer" || p.type === "number") return Number(text);
  return p.format === "date-time" ? new Date(text).toISOString() : text;
}
