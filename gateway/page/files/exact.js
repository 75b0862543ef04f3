// JSON with everything that JSON.parse loses: numbers as they were written, and members that
// come twice. What is shown to a person must be what runs.

// Numeral is a number as it was written.
export class Numeral {
  constructor(source) { this.source = source; }
}

// Members are the members of an object, in order.
export class Members {
  constructor(list) { this.list = list; }
  get(name) { return this.list.findLast(([n]) => n === name)?.[1]; }
}

// kindOf returns the type of a value, by its name in JSON Schema.
export const kindOf = (v) => v === null ? "null" : Array.isArray(v) ? "array" : v instanceof Numeral ? "number" : v instanceof Members ? "object" : typeof v;

const token = /\s*([{}[\]:,]|"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/y;

const deepest = 100; // levels: what is deeper is kept as it was written, in a Numeral

// parse returns Members, arrays, Numerals, texts, booleans and null.
export function parse(text) {
  token.lastIndex = 0;
  const next = () => {
    const found = token.exec(text);
    if (!found) throw new SyntaxError("not JSON");
    return found[1];
  };
  const source = () => {
    const start = token.lastIndex - 1;
    for (let open = 1; open;) {
      const [t] = next();
      open += "{[".includes(t) ? 1 : "}]".includes(t) ? -1 : 0;
    }
    return new Numeral(text.slice(start, token.lastIndex));
  };
  const value = (first, depth) => {
    const inside = (t) => value(t, depth + 1);
    switch (first[0]) {
      case "{": return depth < deepest ? new Members(list(next, "}", (name) => { next(); return [JSON.parse(name), inside(next())]; })) : source();
      case "[": return depth < deepest ? list(next, "]", inside) : source();
      case '"': return JSON.parse(first);
      case "t": return true;
      case "f": return false;
      case "n": return null;
    }
    return new Numeral(first);
  };
  return value(next(), 0);
}

function list(next, end, read) {
  const out = [];
  for (let t = next(); t !== end; t = next()) out.push(read(t === "," ? next() : t));
  return out;
}

// print returns the JSON of a value in lines, also of an object of JavaScript.
export function print(v, indent = "") {
  const inside = indent + "  ";
  const block = (open, items, close) => items.length ? `${open}\n${inside}${items.join(",\n" + inside)}\n${indent}${close}` : open + close;
  if (v instanceof Numeral) return v.source;
  if (v instanceof Members) return block("{", v.list.map(([n, m]) => `${JSON.stringify(n)}: ${print(m, inside)}`), "}");
  if (Array.isArray(v)) return block("[", v.map((m) => print(m, inside)), "]");
  if (v && typeof v === "object") return print(new Members(Object.entries(v).filter(([, m]) => m !== undefined)), indent);
  return JSON.stringify(v);
}
