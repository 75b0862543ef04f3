// Where a browser is, and how to start it on a machine without a screen or a network.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

// findBrowser returns $CHROMIUM, or the first of the usual names of Chromium and
// Chrome in PATH, and ends the script if there is none.
export function findBrowser() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const places = process.env.CHROMIUM ? [process.env.CHROMIUM] : names.flatMap((n) => folders.map((f) => join(f, n)));
  const found = places.find((p) => { try { accessSync(p, constants.X_OK); return true; } catch { return false; } });
  if (!found) {
    console.error("There is no browser: install Chromium (apt-get install chromium) or Chrome, or set CHROMIUM to its path.");
    process.exit(2);
  }
  return found;
}

export const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync",
];
