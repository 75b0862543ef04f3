// Takes the picture of the README: the Temporal Web UI with an approval that waits.
//
//	node screenshot.mjs API UI FILE.png      the URLs of an agent that `make run` has started
//
// It asks the agent for a resource, which waits for an approval, takes the picture,
// and rejects the approval.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findBrowser, flags } from "./chromium.mjs";

const [api, ui, file] = process.argv.slice(2);
assert.ok(api && ui && file, "usage: screenshot.mjs API UI FILE.png");

async function post(path, body) {
  const res = await fetch(api + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  assert.ok(res.ok, `${path}: ${res.status}`);
  return res.json();
}

const { result } = await post("/conversations", { message: "add a resource named apple with value 42" });
const { uuid } = result.approval;
const profile = mkdtempSync(join(tmpdir(), "screenshot-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: findBrowser(), headless: true, args: flags, colorScheme: "light", viewport: { width: 1440, height: 1050 },
});
try {
  const page = await browser.newPage();
  await page.goto(`${ui}/namespaces/default/workflows/approval-${uuid}`);
  await page.getByText("User Metadata").click();
  await page.frameLocator("iframe").last().getByText("Waiting for a decision").waitFor(); // the details are a frame of their own
  await page.screenshot({ path: file });
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
  await post(`/approvals/${uuid}`, { approved: false, by: "the screenshot", reason: "the picture is taken" });
}
