// Points in time, in words. Intl would take a tenth of a second of the first view on a slow machine.
import { html } from "./html.js";

const units = [["day", 86_400], ["hour", 3_600], ["minute", 60]];

// ago returns how long ago a point in time is, or in how much time it comes.
export function ago(iso, now = Date.now()) {
  const seconds = (new Date(iso) - now) / 1000;
  const [unit, size] = units.find(([, s]) => Math.abs(seconds) >= s) ?? [];
  if (!unit) return seconds > 5 ? "in less than a minute" : "just now";
  const n = Math.round(Math.abs(seconds) / size), text = `${n} ${unit}${n === 1 ? "" : "s"}`;
  return seconds > 0 ? "in " + text : text + " ago";
}

// inFull returns the day and the minute in the time zone of the reader: Tue Nov 24 2026 09:30.
const inFull = (iso) => String(new Date(iso)).slice(0, 21);

export const time = (iso) => html`<time datetime=${iso} title=${inFull(iso)}>${ago(iso)}</time>`;
export const fullTime = (iso) => html`<time datetime=${iso}>${inFull(iso)}</time>`;

// span returns how long a time in milliseconds is.
export function span(ms) {
  const s = Math.max(0, ms) / 1000;
  if (s < 60) return s < 10 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`;
  const [unit, size] = units.find(([, u]) => s >= u), next = units[units.findIndex(([u]) => u === unit) + 1]?.[1] ?? 1;
  return `${Math.floor(s / size)} ${unit[0]} ${Math.floor(s % size / next)} ${next === 1 ? "s" : next === 60 ? "m" : "h"}`;
}
