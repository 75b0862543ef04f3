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
