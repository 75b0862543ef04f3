// Uses the page in a real browser, against agents that really run.
//
//	node page.mjs BIN      the folder with the binaries agent and mcp-resources
//
// The browser is Chromium or Chrome: $CHROMIUM, or the first of their usual names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { check, finish } from "../conformance/check.mjs";
import { pause } from "./agent.mjs";
import { launch, startAll, useSources } from "./agents.mjs";
import { absenceChecks } from "./absence.mjs";
import { attack } from "./attack.mjs";
import { commandChecks } from "./commands.mjs";
import { editChecks } from "./edits.mjs";
import { inboxChecks } from "./inbox.mjs";
import { gone, invented, missing } from "./invented.mjs";
import { wholeChecks } from "./whole.mjs";

const [bin] = process.argv.slice(2);
assert.ok(bin, "usage: page.mjs BIN");
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const patience = 20_000;
const { plain, scripted, pair, proxy, model, end } = await startAll(bin);
const browser = await launch();

// Everything that must not happen in any page of this test.
const attacks = [], reports = [], errors = [];

async function visitor(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(patience);
  await useSources(context);
  await context.exposeFunction("attacked", (what) => attacks.push(what));
  await context.exposeFunction("reported", (what) => reports.push(what));
  await context.addInitScript(() => addEventListener("securitypolicyviolation", (e) => reported(`${e.violatedDirective} ${e.blockedURI} ${e.sample} ${e.sourceFile}:${e.lineNumber}`)));
  context.on("dialog", (d) => { attacks.push("dialog " + d.message()); d.dismiss(); });
  context.on("weberror", (e) => errors.push(e.error().stack));
  context.on("request", (r) => { if (/attack\.example/.test(r.url())) attacks.push(r.url()); });
  return context;
}

const context = await visitor();
async function open(agent, hash = "", in_ = context) {
  const page = await in_.newPage();
  await page.goto(agent.url + "/" + hash);
  await page.locator("#message").waitFor();
  return page;
}
const say = async (page, text) => { await page.locator("#message").fill(text); await page.locator("#message").press("Enter"); };
const button = (page, name) => page.getByRole("button", { name, exact: true });
const waiting = (page) => page.locator(".card.waiting form");
const decided = (page, text) => page.locator(".card.decided summary").filter({ hasText: text });
const reply = (page, text) => page.locator(".message.agent").filter({ hasText: text });
const idOf = (page) => page.url().split("/c/")[1];
const approvalOf = async (agent, page) => (await agent.ask("/conversations/" + idOf(page))).conversation.pending_approval.uuid;

await check("a person asks, sees the card, approves with a name, and gets the result", async () => {
  const page = await open(plain);
  await say(page, "add a resource named apple with value 42");
  await waiting(page).waitFor();
  const card = page.locator(".card.waiting");
  for (const text of ["Run resources_add?", "resources", "helper", "apple", "42", "number", "Approve", "The call runs once", "Reject", "The call does not run", "Nobody answers", "it expires", "Expires", "in 3 days"]) {
    await card.getByText(text).first().waitFor();
  }
  assert.match(await page.title(), /^\(1\) add a resource/);
  await page.getByLabel("Your name").fill("alice");
  await button(page, "Approve").click();
  await decided(page, "Approved by alice").waitFor();
  await reply(page, "The tool resources_add answered").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.closest(".card, #message") !== null), true, "the focus is lost");
  await page.close();
});

await check("a person rejects with a reason", async () => {
  const page = await open(plain);
  await say(page, "add a resource named pear with value 1");
  await page.getByLabel("Reason").fill("not on a Friday");
  await page.getByLabel("Reason").press("Enter");
  await pause(300);
  assert.equal(await waiting(page).count(), 1, "the Enter key has decided");
  await button(page, "Reject").click();
  await decided(page, "Reason: not on a Friday").filter({ hasText: "Rejected by alice" }).waitFor();
  await reply(page, "Operation cancelled by user. Reason (alice): not on a Friday").waitFor();
  await page.close();
});

await check("a reply is shown while it is written", async () => {
  const page = await open(scripted);
  await say(page, "slowly " + "one two three four five six seven eight nine ten ".repeat(3));
  await reply(page, "one two").waitFor();
  const early = await page.locator(".message.agent").innerText();
  await page.locator(".status").waitFor({ state: "detached" });
  const late = await page.locator(".message.agent").innerText();
  assert.ok(early.length < late.length && late.startsWith(early.trim().slice(0, 7)), `${early} | ${late}`);
  await page.close();
});

await check("a reply goes on after a lost connection, and nothing is doubled", async () => {
  const page = await open(scripted);
  await say(page, "slowly " + "alpha beta gamma delta epsilon zeta eta theta iota kappa ".repeat(4));
  await reply(page, "alpha beta").waitFor();
  await context.setOffline(true);
  await pause(600);
  await context.setOffline(false);
  await page.reload();
  await page.locator(".message.agent").filter({ hasText: /(alpha[^]*){4}kappa\s*$/ }).waitFor(); // each part ends like the whole
  assert.equal((await page.locator(".message.agent").innerText()).match(/alpha/g).length, 4);
  assert.equal(await page.locator(".message.user").count(), 1);
  await page.close();
});

await check("a reply that is nested too deep is shown as it was written, and the page works on", async () => {
  const page = await open(scripted);
  await say(page, "say " + ">".repeat(20_000) + " deep");
  await page.locator(".message.agent pre").filter({ hasText: "> deep" }).first().waitFor({ state: "attached" });
  await page.locator(".status").waitFor({ state: "detached" });
  await say(page, "say " + Array.from({ length: 90 }, (_, n) => "\t".repeat(n) + "- level").join("\n"));
  await page.locator(".message.agent pre").filter({ hasText: "- level" }).first().waitFor({ state: "attached" });
  await page.locator(".status").waitFor({ state: "detached" });
  await say(page, "say fine");
  await reply(page, "fine").waitFor();
  await page.close();
});

await check("a closed conversation is not read again and again", async () => {
  const page = await open(plain);
  await say(page, "list the resources");
  await reply(page, "The tool resources_list answered").waitFor();
  let reads = 0;
  page.on("request", (r) => { if (r.url().includes("/events")) reads++; });
  await plain.ask(`/conversations/${idOf(page)}/close`, {});
  await page.getByText("This conversation is closed").waitFor();
  await pause(2000);
  assert.ok(reads <= 2, `it is read ${reads} times`);
  await page.close();
});

await check("Markdown is rendered, and tool calls are folded with arguments and result", async () => {
  const page = await open(scripted);
  await say(page, "say # A title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n**bold** and `code` [a link](https://example.com)");
  await page.locator(".markdown table td").first().waitFor();
  await page.locator(".markdown strong", { hasText: "bold" }).waitFor();
  assert.equal(await page.locator(".markdown a").getAttribute("rel"), "noopener noreferrer");
  await say(page, "call picture");
  await page.locator("figure img").waitFor();
  assert.ok(await page.locator("figure img").evaluate((img) => img.decode().then(() => img.naturalWidth)), "the image is not shown");
  const call = page.locator("details.call");
  assert.equal(await call.getAttribute("open"), null);
  await call.locator("summary").first().click();
  await call.getByText("a picture").first().waitFor();
  await page.close();
});

await check("two approvals wait at once, and each is decided on its own", async () => {
  const page = await open(pair);
  await say(page, "go");
  await waiting(page).nth(1).waitFor();
  await page.locator(".card.waiting").filter({ hasText: "node left" }).getByRole("button", { name: "Approve" }).click();
  await decided(page, "Approved").waitFor();
  assert.equal(await waiting(page).count(), 1);
  await page.locator(".card.waiting").filter({ hasText: "node right" }).getByRole("button", { name: "Reject" }).click();
  await decided(page, "Rejected").waitFor();
  await page.locator(".card.waiting").waitFor({ state: "detached" });
  await page.close();
});

await check("a question is answered by a form made from its schema", async () => {
  const page = await open(scripted);
  await say(page, "call seats");
  await page.getByRole("spinbutton", { name: "Seats" }).waitFor();
  await button(page, "Send the answer").click();
  assert.equal(await page.getByRole("spinbutton", { name: "Seats" }).evaluate((e) => e.validity.valueMissing), true);
  await page.getByRole("spinbutton", { name: "Seats" }).fill("3");
  await page.getByRole("combobox", { name: "Class" }).selectOption({ index: 1 });
  await page.getByLabel("At the window").selectOption("Yes");
  await page.getByLabel("Remark").fill("Quiet");
  await button(page, "Send the answer").click();
  assert.equal(await page.getByLabel("Remark").evaluate((e) => e.validity.patternMismatch), true);
  await page.getByLabel("Remark").fill("quiet, please");
  await button(page, "Send the answer").click();
  await reply(page, 'accept {"class":"first","remark":"quiet, please","seats":3,"window":true}').waitFor();
  await say(page, "call seats");
  await button(page, "Decline").click();
  await reply(page, "decline").waitFor();
  await page.close();
});

await check("a call of unknown outcome has three answers", async () => {
  const page = await open(scripted);
  await say(page, 'call lost');
  await button(page, "Approve").click();
  await page.getByText("Did lost run?").waitFor();
  for (const name of ["It did run", "Run it again", "Go on without it"]) await button(page, name).waitFor();
  await page.getByLabel("If it did run").fill("saw it in the books");
  await button(page, "It did run").click();
  await decided(page, "it did run").waitFor();
  await reply(page, "saw it in the books").waitFor();
  await page.close();
});

await check("an approval that waits is the same after a reload and after the server was killed", async () => {
  const page = await open(plain);
  await say(page, "add a resource named fig with value 3");
  await waiting(page).waitFor();
  const shown = () => page.locator(".card.waiting .arguments").innerText();
  const before = await shown();
  await page.reload();
  await waiting(page).waitFor();
  assert.equal(await shown(), before);
  await plain.end("SIGKILL");
  await page.getByText("connects again by itself").waitFor();
  await plain.start();
  await page.getByText("connects again by itself").waitFor({ state: "detached" });
  await button(page, "Approve").click();
  await reply(page, "The tool resources_add answered").waitFor();
  await page.close();
});

await check("a decision in one tab is shown in the other, with who made it, and counts once", async () => {
  const one = await open(plain);
  await say(one, "add a resource named kiwi with value 9");
  await waiting(one).waitFor();
  const two = await open(plain, new URL(one.url()).hash);
  await waiting(two).waitFor();
  const uuid = await approvalOf(plain, one);
  await one.getByLabel("Your name").fill("carol");
  await button(one, "Approve").click();
  await decided(two, "Approved by carol").filter({ hasText: "decided elsewhere" }).waitFor();
  await decided(one, "Approved by carol").waitFor();
  assert.equal(await one.getByText("decided elsewhere").count(), 0);
  assert.equal((await plain.ask("/approvals/" + uuid)).status, "approved");
  await Promise.all([one, two].map((p) => p.close()));
});

await check("a decision that comes second says who came first", async () => {
  const page = await open(plain);
  await say(page, "add a resource named lime with value 9");
  await waiting(page).waitFor();
  const uuid = await approvalOf(plain, page);
  const posts = [];
  await page.route("**/approvals/" + uuid, async (route) => { // bob is faster
    if (route.request().method() === "POST") {
      posts.push(route.request().headers()["idempotency-key"]);
      if (posts.length === 1) await plain.ask("/approvals/" + uuid, { approved: false, by: "bob", reason: "faster" });
    }
    await route.continue();
  });
  await button(page, "Approve").dblclick();
  await decided(page, "Rejected by bob").waitFor();
  assert.equal(posts.length, 1, "the decision was sent more than once");
  assert.ok(posts[0]);
  await page.close();
});

await check("stop works while an approval waits and while a reply is written", async () => {
  const page = await open(plain);
  await say(page, "add a resource named plum with value 5");
  await waiting(page).waitFor();
  assert.equal(await button(page, "Send").isDisabled(), true);
  await button(page, "Stop").click();
  await decided(page, "Withdrawn").waitFor();
  assert.equal(await page.getByText("decided elsewhere").count(), 0);
  await page.close();
  const writing = await open(scripted);
  await say(writing, "slowly " + "word ".repeat(300));
  await reply(writing, "word word").waitFor();
  await button(writing, "Stop").click();
  await button(writing, "Stop").waitFor({ state: "detached" });
  await writing.close();
});

await check("what is typed survives a reload, conversation by conversation", async () => {
  const page = await open(plain);
  await page.locator("#message").fill("half a thought");
  await page.reload();
  await page.locator("#message").waitFor();
  assert.equal(await page.locator("#message").inputValue(), "half a thought");
  await page.locator("#conversations li a[href^='#/c/']").first().click(); // the list may come after the links below it
  await page.locator(".messages .entry").first().waitFor();
  assert.equal(await page.locator("#message").inputValue(), "");
  await page.goBack();
  await page.locator(".welcome").waitFor();
  assert.equal(await page.locator("#message").inputValue(), "half a thought");
  await page.locator("#message").fill("");
  await page.close();
});

await check("the list has titles and states, and says what waits", async () => {
  const page = await open(plain);
  await say(page, "add a resource named date with value 1");
  const item = page.locator("#conversations li a", { hasText: "named date" });
  await item.getByText("needs you").waitFor();
  await button(page, "Reject").click();
  await item.getByText("needs you").waitFor({ state: "detached" });
  await page.close();
});

await check("invisible characters, long arguments and large numbers are shown as they are", async () => {
  const page = await open(scripted);
  const long = "line\n".repeat(500) + "the end";
  await say(page, "call note " + JSON.stringify({ name: "pay\u202Eeca\u200B", text: long }).replace("}", ',"n":9007199254740993}'));
  await waiting(page).waitFor();
  await page.locator(".card.waiting .hidden-character", { hasText: "U+202E" }).waitFor();
  await page.locator(".card.waiting .hidden-character", { hasText: "U+200B" }).waitFor();
  await page.locator(".card.waiting dd", { hasText: "9007199254740993" }).waitFor();
  const whole = page.locator(".card.waiting details.whole");
  await whole.locator("summary").click();
  assert.equal(await whole.locator("pre").innerText(), long);
  await button(page, "Reject").click();
  await decided(page, "Rejected").waitFor();
  await page.close();
});

async function visit(agent, hash = "") {
  const page = await context.newPage();
  await page.goto(agent.url + "/" + hash);
  return page;
}
await inboxChecks({ plain, scripted, pair, visit, button, decided, reply });
await editChecks({ scripted, open, visit, say, button, waiting, decided, reply, idOf, approvalOf });
await commandChecks({ plain, open, say, button, waiting, decided, reply, idOf });
await absenceChecks({ plain, scripted, model, visitor, say, reply });
await wholeChecks({ plain, scripted, open, visitor, say, button, waiting, decided, reply, idOf });

await check("a conversation of 10,000 messages opens at its end and scrolls to its beginning", async () => {
  const page = await context.newPage();
  const message = (n) => [{ type: "TEXT_MESSAGE_START", messageId: "m" + n, role: n % 2 ? "assistant" : "user" }, { type: "TEXT_MESSAGE_CONTENT", messageId: "m" + n, delta: `Message ${n} with **some** text` }, { type: "TEXT_MESSAGE_END", messageId: "m" + n }];
  const events = [{ type: "RUN_STARTED", threadId: "t", runId: "r" }, ...Array.from({ length: 10_000 }, (_, n) => message(n)).flat(), { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome: { type: "success" } }];
  await page.route("**/conversations/*/events*", (r) => r.fulfill({ contentType: "text/event-stream", body: events.map((e) => `data: ${JSON.stringify(e)}\n\n`).join("") }));
  const began = Date.now();
  await page.goto(plain.url + "/#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f");
  await page.locator(".message", { hasText: "Message 9999 with" }).waitFor();
  console.log(`     10,000 messages shown after ${Date.now() - began} ms`);
  assert.ok(await page.locator(".entry").count() < 400);
  for (const end = Date.now() + 4 * patience; Date.now() < end && !await page.getByText("Message 0 with").count();) {
    await page.mouse.wheel(0, -100_000);
    await page.waitForTimeout(50);
  }
  await page.getByText("Message 0 with").waitFor();
  await page.close();
});

await check("errors are in words: no login, no right, no agent", async () => {
  for (const [status, text] of [[401, "You are not logged in"], [403, "You are not allowed to do this"], [503, "does not answer at the moment"], [404, "does not exist"]]) {
    const page = await context.newPage();
    await page.route("**/conversations/*/events*", (r) => r.fulfill({ status, json: { error: "because" } }));
    await page.route("**/messages", (r) => r.fulfill({ status, json: { error: "because" } }));
    await page.goto(plain.url + "/#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f");
    await page.getByText(status === 503 ? "connects again by itself" : text).first().waitFor();
    await page.close();
  }
});

await check("behind a proxy with a login and a path prefix the page knows who decides, and says when the login has ended", async () => {
  const in_ = await visitor();
  await in_.addCookies([{ name: "user", value: "dora", url: proxy.url }]);
  const page = await in_.newPage();
  await page.goto(proxy.url);
  await page.locator("#message").waitFor();
  await say(page, "add a resource named cherry with value 1");
  await page.getByText("Recorded as dora").waitFor();
  await in_.clearCookies();
  await button(page, "Approve").click();
  await page.getByText("You are not logged in").first().waitFor();
  await in_.addCookies([{ name: "user", value: "dora", url: proxy.url }]);
  await button(page, "Approve").click();
  await decided(page, "Approved by dora").waitFor();
  await reply(page, "The tool resources_add answered").waitFor();
  await in_.close();
});

await check("without JavaScript the page says what it needs", async () => {
  const without = await browser.newContext({ javaScriptEnabled: false });
  const page = await without.newPage();
  await page.goto(plain.url + "/");
  await page.getByText("This page needs JavaScript").waitFor();
  await page.getByRole("link", { name: "Open approvals" }).waitFor();
  await without.close();
});

const views = {
  "": (page) => page.locator(".tools li").first(),
  "#/inbox": (page) => page.locator(".rows li").nth(3),
  "#/a/3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d14": (page) => page.locator(".diff .new").first(),
  "#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f": (page) => waiting(page).nth(3),
  "#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f/run": (page) => page.locator(".stage").nth(6),
};

// change opens the forms for changes, and changes something in each.
async function change(page, text) {
  await page.waitForFunction(() => performance.getEntriesByType("resource").some((r) => r.name.endsWith("/tools"))); // which has the schemas
  const closed = page.getByRole("button", { name: "Change…" }), all = await closed.count();
  for (let n = 0; n < all; n++) {
    await closed.first().click();
    await page.getByRole("button", { name: "Undo the changes" }).nth(n).waitFor();
  }
  const forms = await page.locator("form:has(.edit)").all();
  for (const form of forms) {
    await form.locator(".edit select").last().selectOption({ index: 2 });
    await form.locator(".edit textarea").first().fill(text("typed"));
  }
  return forms.length > 0;
}

// besides shows what comes only of what a reader does, and what is not there any more, to examine each.
async function besides(page, text, examine) {
  const visit = async (hash, sign) => {
    await page.goto(plain.url + "/" + hash);
    await page.reload();
    await sign.first().waitFor();
  };
  await visit("", page.locator(".tools li"));
  const menu = await page.locator(".menu").isVisible();
  if (menu) await page.locator(".menu").click();
  await page.getByLabel("Search conversations").fill("words");
  await page.locator(".excerpt").first().waitFor();
  await examine("search results");
  if (menu) await page.keyboard.press("Escape");
  await page.locator("#message").evaluate((box, [name, empty]) => {
    const clipboardData = new DataTransfer();
    for (const f of [new File(["a list"], name), new File([], empty)]) clipboardData.items.add(f);
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, [text("file name"), text("name of an empty file")]);
  await page.locator(".files li").first().waitFor();
  await page.getByText("is empty, or is a folder").waitFor();
  await examine("files before they are sent");
  await visit("#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f", page.locator(".hint, #hint").filter({ hasText: "For " }));
  await page.locator("#message").fill("!");
  await page.locator(".offer button").first().waitFor();
  await examine("the offer of commands");
  await say(page, "!list");
  await page.locator(".command-reply").waitFor();
  await examine("the reply to a command");
  await visit("#/c/" + gone, page.getByText("This was deleted"));
  await examine("a deleted conversation");
  await visit("#/c/" + missing, page.getByText("This does not exist"));
  await examine("a conversation that is not there");
}

await check("nothing that a model, a tool, another agent or a person writes runs", async () => {
  const page = await open(scripted);
  await page.getByText("What can I do for you?").waitFor();
  await page.locator(".tools li").first().waitFor();
  await say(page, "say " + attack("reply"));
  await page.locator(".message.agent .markdown").waitFor();
  await say(page, "call note " + JSON.stringify({ name: attack("argument"), [attack("name")]: attack("value") }));
  await waiting(page).waitFor();
  await page.getByLabel("Your name").fill(attack("by").slice(0, 190));
  await page.getByLabel("Reason").fill(attack("reason"));
  await button(page, "Approve").click();
  await decided(page, "Approved").waitFor();
  await reply(page, "noted").waitFor();
  await page.getByLabel("Your name").waitFor({ state: "detached" });
  for (const details of await page.locator("details").all()) await details.evaluate((d) => { d.open = true; });
  await page.reload();
  await reply(page, "noted").waitFor();
  await page.close();
  const forged = await context.newPage();
  await invented(forged, attack);
  for (const [hash, sign] of Object.entries(views)) {
    await forged.goto(plain.url + "/" + hash);
    await forged.reload();
    await sign(forged).waitFor();
    if (hash === "#/inbox") {
      for (const box of await forged.locator(".rows input[type=checkbox]").all()) await box.check();
      await forged.keyboard.press("j");
      await waiting(forged).waitFor();
    }
    for (const details of await forged.locator("details").all()) await details.evaluate((d) => { d.open = true; });
    await forged.evaluate(() => { for (const e of document.querySelectorAll("a, b, summary")) e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })); });
    await change(forged, attack);
    await pause(200);
    if (hash === "#/inbox") await forged.getByRole("button", { name: "Approve…" }).click();
    await pause(200);
  }
  await besides(forged, attack, async () => {
    await forged.evaluate(() => { for (const e of document.querySelectorAll("a, b, summary")) e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })); });
    await pause(200);
  });
  assert.deepEqual(await forged.evaluate(() => [...document.querySelectorAll("#app script, #app iframe, #app style, #app [onerror], #app [onload], #app a[href^='javascript']")].map((e) => e.outerHTML)), []);
  await forged.close();
  assert.deepEqual(attacks, []);
  assert.deepEqual(reports, []);
});

for (const colorScheme of ["light", "dark"]) {
  for (const [name, width, height] of [["320 pixels wide", 320, 800], ["1280 pixels wide", 1280, 800], ["1280 by 1024 at 400 %", 320, 256]]) {
    await check(`no barriers that axe-core finds: ${colorScheme}, ${name}`, async () => {
      const in_ = await browser.newContext({ colorScheme, viewport: { width, height }, bypassCSP: true, reducedMotion: "reduce" });
      await useSources(in_);
      const page = await in_.newPage();
      await invented(page, (where) => "Text of the " + where);
      const examine = async (what) => {
        for (const details of await page.locator("details").all()) await details.evaluate((d) => { d.open = true; });
        await page.addScriptTag({ content: axe });
        const { violations } = await page.evaluate(() => axe.run(document));
        assert.deepEqual(violations.map((v) => `${what} ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160) + " " + n.failureSummary).slice(0, 3).join(" | ")}`), []);
        assert.ok(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), what + " scrolls sideways");
        assert.deepEqual(await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running").map((a) => a.animationName)), [], "it moves");
      };
      for (const [hash, sign] of Object.entries(views)) {
        await page.goto(plain.url + "/" + hash);
        await page.reload();
        await sign(page).waitFor();
        if (hash === "#/inbox") {
          await page.keyboard.press("j");
          await waiting(page).waitFor();
          await page.getByRole("button", { name: "Not now" }).click();
        }
        await examine(hash);
        if (await change(page, (where) => "Text of the " + where)) await examine(hash + " with changes");
        if (width < 700) {
          await page.locator(".menu").click();
          await examine(hash + " with the menu");
          await page.keyboard.press("Escape");
        }
        if (/^#\/c\/[^/]*$/.test(hash)) {
          for (const name of ["Rename…", "Download…", "Delete…"]) {
            await page.getByRole("button", { name }).click();
            await examine("the panel of " + name);
          }
        }
        if (hash === "#/inbox") {
          for (const box of await page.locator(".rows input[type=checkbox]").all()) await box.check();
          await page.getByRole("button", { name: "Approve…" }).click();
          await page.locator(".looks li").first().waitFor();
          await examine("the second look");
        }
      }
      await besides(page, (where) => "Text of the " + where, examine);
      await in_.close();
    });
  }
}

await check("no script of the page failed", async () => assert.deepEqual(errors, []));

await browser.close();
await end();
finish();
