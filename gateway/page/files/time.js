import { html } from "./html.js";

const units = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absolute = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

// ago returns how long ago a point in time is, or in how much time it comes.
export function ago(iso, now = Date.now()) {
  const seconds = (new Date(iso) - now) / 1000;
  const [unit, size] = units.find(([, s]) => Math.abs(seconds) >= s) ?? [];
  if (unit) return relative.format(Math.round(seconds / size), unit);
  return seconds > 5 ? "in less than a minute" : "just now";
}

export const time = (iso) => html`<time datetime=${iso} title=${absolute.format(new Date(iso))}>${ago(iso)}</time>`;
export const fullTime = (iso) => html`<time datetime=${iso}>${absolute.format(new Date(iso))}</time>`;

// span returns how long a time in milliseconds is.
export function span(ms) {
  const s = Math.max(0, ms) / 1000;
  if (s < 60) return s < 10 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`;
  const [unit, size] = units.find(([, u]) => s >= u), next = units[units.findIndex(([u]) => u === unit) + 1]?.[1] ?? 1;
  return `${Math.floor(s / size)} ${unit[0]} ${Math.floor(s % size / next)} ${next === 1 ? "s" : next === 60 ? "m" : "h"}`;
}
