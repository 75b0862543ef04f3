// Attacks an agent with web pages in a real browser, and then uses it with its own.
//
//	node browser.mjs API UI        the URLs of the agent's API and of its Temporal Web UI
//
// The agent has the tool resources_add, which wants an approval, and runs demo:rules.
// The browser is Chromium or Chrome: $CHROMIUM, or the first of their usual names.
//
// Two kinds of pages attack. Those of foreign.example come from a small server of
// this script, on a port of its own. Those of rebound.example have the port of the
// agent: its name led elsewhere while the page was loaded, and leads to the agent
// since, so that the browser takes both for one site.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { check, finish } from "./check.mjs";
import { findBrowser, flags } from "./chromium.mjs";

const [api, ui] = process.argv.slice(2);
assert.ok(api && ui, "usage: browser.mjs API UI");
const patience = 20_000;

// ask asks the agent as a program does.
async function ask(path, body) {
  const res = await fetch(api + path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  assert.ok(res.ok, `${path}: ${res.status}`);
  return res.json();
}

const waiting = async (name) => (await ask("/conversations", { message: `add a resource named ${name} with value 1` })).result.approval.uuid;
const status = async (uuid) => (await ask(`/approvals/${uuid}`)).status;

// conversations lists those there are. A list lags a moment behind; a conversation of
// our own that was made later shows that it has caught up.
async function conversations() {
  const { conversation } = await ask("/conversations", {});
  ours.add(conversation.id);
  for (const end = Date.now() + patience; Date.now() < end;) {
    const ids = (await ask("/conversations?limit=200")).conversations.map((c) => c.id);
    if (ids.includes(conversation.id)) return ids.filter((id) => !ours.has(id)).sort();
  }
  throw new Error("the list of conversations does not catch up");
}
const ours = new Set();

const foreign = createServer((req, res) => {
  res.setHeader("Content-Type", "text/html");
  res.end(`<!doctype html><title>foreign</title><a id="docs" href="${api}/docs">docs</a>`);
});
await new Promise((done) => foreign.listen(0, "127.0.0.1", done));
const foreignURL = `http://foreign.example:${foreign.address().port}/`;

const profile = mkdtempSync(join(tmpdir(), "browser-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: findBrowser(), headless: true,
  args: [...flags, "--disable-features=LocalNetworkAccessChecks", // which not every browser has
    "--host-resolver-rules=MAP *.example 127.0.0.1"],
});
browser.setDefaultTimeout(patience);

// open opens a page that belongs to nobody here, whatever its URL leads to.
async function open(url) {
  const page = await browser.newPage();
  if (!url.startsWith(foreignURL)) {
    await page.route(url, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><title>rebound</title>" }));
  }
  await page.goto(url);
  return page;
}

// answered runs an attack in a page and returns the status of the answer that it got
// from the target, which the page itself may not see.
async function answered(page, target, attack, ...args) {
  const [response] = await Promise.all([
    page.waitForResponse((r) => r.url().startsWith(target)),
    page.evaluate(attack, [target, ...args]),
  ]);
  return response.status();
}

// The ways in which a page sends a body without being asked.
const ways = {
  "no-cors text/plain": ([url, body]) => fetch(url, { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body }).then(() => {}),
  "no-cors without a type": ([url, body]) => fetch(url, { method: "POST", mode: "no-cors", body: new TextEncoder().encode(body) }).then(() => {}),
  "beacon": ([url, body]) => { navigator.sendBeacon(url, body); },
  "form": ([url, body]) => {
    const frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { name: "target" }));
    const form = Object.assign(document.createElement("form"), { method: "POST", action: url, enctype: "text/plain", target: frame.name });
    // A form of text/plain sends NAME=VALUE: the sign becomes a part of a string.
    form.append(Object.assign(document.createElement("input"), { name: body.slice(0, -1) + `,"x":"`, value: `"}` }));
    document.body.append(form);
    form.submit();
  },
};

// What a page would like to do: path and body, given an approval that waits.
const message = "add a resource named stolen with value 6";
const wishes = {
  "start a conversation": (uuid) => [`${api}/conversations`, { message }],
  "approve": (uuid) => [`${api}/approvals/${uuid}`, { approved: true, by: "alice" }],
  "send a task by A2A": (uuid) => [`${api}/a2a`, { jsonrpc: "2.0", id: 1, method: "message/send", params: { message: { messageId: "m-1", role: "user", parts: [{ kind: "text", text: message }] } } }],
  "run by AG-UI": (uuid) => [`${api}/ag-ui`, { threadId: "stolen", runId: "r", messages: [{ id: "m", role: "user", content: message }], tools: [], context: [], state: {} }],
  "approve through the Web UI": (uuid) => [signalURL(uuid), decision],
};
const signalURL = (uuid) => `${ui}/api/v1/namespaces/default/workflows/approval-${uuid}/signal/decide`;
const decision = { input: { payloads: [{ metadata: { encoding: btoa("json/plain") }, data: btoa(`{"approved":true,"by":"alice"}`) }] } };

// harmless runs attacks and wants everything to be as it was.
async function harmless(attack) {
  const uuid = await waiting("bait");
  const before = await conversations();
  const code = await attack(uuid);
  assert.equal(await status(uuid), "pending", "the approval");
  assert.deepEqual(await conversations(), before, "the conversations");
  assert.ok([403, 415, 421].includes(code), `the answer to the page was ${code}`);
}

for (const [wish, of] of Object.entries(wishes)) {
  for (const [way, attack] of Object.entries(ways)) {
    await check(`a page of another site does not ${wish}: ${way}`, () => harmless(async (uuid) => {
      const page = await open(foreignURL);
      const [url, body] = of(uuid);
      const code = await answered(page, url, attack, JSON.stringify(body));
      await page.close();
      return code;
    }));
  }
}

await check("a page of another site does not start a conversation without a body", () => harmless(async () => {
  const page = await open(foreignURL);
  return answered(page, `${api}/conversations`, ([url]) => fetch(url, { method: "POST", mode: "no-cors" }).then(() => {}));
}));

await check("a page of another site does not frame the documentation", async () => {
  const page = await open(foreignURL);
  assert.equal(await answered(page, `${api}/docs`, ([url]) => {
    document.body.appendChild(Object.assign(document.createElement("iframe"), { src: url }));
  }), 403);
});

// post is what a page that the browser takes for one of the agent's does.
const post = async ([url, body, headers = {}]) =>
  (await fetch(url, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) })).status;
const read = async ([url]) => { const r = await fetch(url); return [r.status, await r.text()]; };

const under = (name, url) => { const u = new URL(url); u.hostname = name; return u.origin; };

await check("a page of a rebound name neither lists approvals nor decides", () => harmless(async (uuid) => {
  const there = under("rebound.example", api);
  const page = await open(`${there}/attack`);
  const [code, text] = await page.evaluate(read, [`${there}/approvals`]);
  assert.ok(!text.includes(uuid), "it lists the approval");
  assert.match(text, /allowed_hosts/);
  await page.evaluate(post, [`${there}/approvals/${uuid}`, { approved: true, by: "alice" }]);
  await page.evaluate(post, [`${there}/conversations`, { message }]);
  await page.evaluate(post, [`${there}/ag-ui`, wishes["run by AG-UI"](uuid)[1]]);
  return code;
}));

await check("a page of a rebound name does not decide through the Web UI", () => harmless(async (uuid) => {
  const there = under("rebound.example", ui);
  const page = await open(`${there}/attack`);
  const [code, text] = await page.evaluate(read, [`${there}/api/v1/namespaces/default/workflows?query=`]);
  assert.ok(!text.includes(uuid), "it lists the workflow");
  await page.evaluate(post, [signalURL(uuid).replace(ui, there), decision]);
  return code;
}));

await check("a link on a page of another site opens the documentation, which talks to the agent", async () => {
  const uuid = await waiting("linked");
  const page = await open(foreignURL);
  await page.click("#docs");
  await page.waitForSelector(".swagger-ui .opblock");
  assert.equal(await page.evaluate(post, [`${api}/approvals/${uuid}`, { approved: true, by: "alice" }]), 200);
  assert.equal(await status(uuid), "approved");
});

await check("the documentation works as localhost, too", async () => {
  const uuid = await waiting("local");
  const there = under("localhost", api);
  const page = await browser.newPage();
  await page.goto(`${there}/docs`);
  await page.waitForSelector(".swagger-ui .opblock");
  assert.equal(await page.evaluate(post, [`${there}/approvals/${uuid}`, { approved: false, by: "bob" }]), 200);
  assert.equal(await status(uuid), "rejected");
});

await check("the Web UI shows what waits, and its page may answer", async () => {
  const uuid = await waiting("shown");
  const page = await browser.newPage();
  await page.goto(`${ui}/namespaces/default/workflows/approval-${uuid}`);
  await page.getByText(`approval-${uuid}`).first().waitFor();
  assert.equal(await page.evaluate(post, [signalURL(uuid), decision]), 200);
  for (const end = Date.now() + patience; await status(uuid) === "pending" && Date.now() < end;);
  assert.equal(await status(uuid), "approved");
});

await browser.close();
foreign.close();
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
finish();
