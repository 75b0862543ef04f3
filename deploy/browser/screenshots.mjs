// Takes pictures of every view of the page, light and dark, wide and narrow.
//
//	node screenshots.mjs BIN DIR      the folder with the binaries, and that for the pictures
import assert from "node:assert/strict";
import { join } from "node:path";
import { launch, startAll, useSources } from "./agents.mjs";
import { invented } from "./invented.mjs";

const [bin, dir] = process.argv.slice(2);
assert.ok(dir, "usage: screenshots.mjs BIN DIR");
const { plain, scripted, pair, end } = await startAll(bin);
const browser = await launch();

// views are what there is to see: each opens it in a page.
const say = async (page, text) => { await page.locator("#message").fill(text); await page.locator("#message").press("Enter"); };
const settled = (page) => page.locator(".status").waitFor({ state: "detached" });
const views = {
  start: async (page) => { await page.goto(plain.url); await page.locator(".tools li").first().waitFor(); },
  approval: async (page) => {
    await page.goto(plain.url);
    await say(page, "add a resource named apple with value 42");
    await page.getByText("it expires").waitFor();
  },
  changes: async (page) => {
    await page.goto(scripted.url);
    await say(page, 'call pay {"amount":700,"currency":"CHF","to":{"city":"Bern","street":"Gasse 1"},"note":"Dear Ann,\\nthe invoice is paid.","tags":["red"]}');
    await page.getByRole("button", { name: "Change…" }).click();
    await page.getByRole("spinbutton", { name: "amount" }).fill("405");
    await page.getByRole("textbox", { name: "note" }).fill("Dear Ann,\nhalf of the invoice is paid.");
    await page.getByRole("button", { name: "Approve with changes" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
  },
  "changes-decided": async (page) => {
    await page.goto(scripted.url);
    await say(page, 'call pay {"amount":700,"currency":"CHF","to":{"city":"Bern","street":"Gasse 1"},"note":"Dear Ann,\\nthe invoice is paid."}');
    await page.getByRole("button", { name: "Change…" }).click();
    await page.getByRole("spinbutton", { name: "amount" }).fill("400");
    await page.getByLabel("Your name").fill("alice");
    await page.getByRole("button", { name: "Approve with changes" }).click();
    await page.locator(".card.decided summary", { hasText: "with changes" }).click();
  },
  decided: async (page) => {
    await page.goto(plain.url);
    await say(page, "add a resource named pear with value 7");
    await page.getByLabel("Reason").fill("not on a Friday");
    await page.getByLabel("Your name").fill("alice");
    await page.getByRole("button", { name: "Reject" }).click();
    await page.locator(".message.agent", { hasText: "Operation cancelled" }).waitFor();
    await say(page, "add a resource named fig with value 3");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator(".message.agent", { hasText: "The tool resources_add answered" }).waitFor();
  },
  question: async (page) => {
    await page.goto(scripted.url);
    await say(page, "call seats");
    await page.getByRole("spinbutton", { name: "Seats" }).waitFor();
  },
  text: async (page) => {
    await page.goto(scripted.url);
    await say(page, "say ## Result\n\nThree resources are **in use**, two are *free*:\n\n| name | value |\n|---|---|\n| apple | 42 |\n| pear | 7 |\n\n1. Add `fig`\n2. Remove `pear`\n\n```sh\nresources list --all\n```\n\n> Nothing was changed.\n\nSee [the list](https://example.com).");
    await page.locator(".markdown table").waitFor();
    await settled(page);
  },
  everything: async (page) => {
    await invented(page, (where) => `Some ${where}`);
    await page.goto(plain.url + "/#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f");
    await page.locator(".card.waiting form").nth(4).waitFor();
  },
  inbox: async (page) => {
    await fill();
    await page.goto(scripted.url + "/#/inbox");
    await page.locator(".rows .row").nth(7).waitFor();
  },
  "inbox-open": async (page) => {
    await page.goto(scripted.url + "/#/inbox");
    await page.locator(".rows .row", { hasText: "notes.md" }).first().click();
    await page.locator(".diff").waitFor();
    await page.getByRole("button", { name: "Not now" }).click();
  },
  "inbox-several": async (page) => {
    await page.goto(scripted.url + "/#/inbox");
    await page.getByRole("button", { name: "Select all" }).first().click();
    await page.getByRole("button", { name: "Approve…" }).click();
    await page.locator(".looks li").nth(1).waitFor();
  },
  "inbox-empty": async (page) => {
    await page.goto(pair.url + "/#/inbox");
    await page.getByText("Nothing waits for you").waitFor();
  },
  link: async (page) => {
    await page.goto(scripted.url + "/#/a/" + (await scripted.ask("/approvals")).approvals[0].uuid);
    await page.locator(".card form").waitFor();
  },
  run: async (page) => {
    await invented(page, (where) => where);
    await page.goto(plain.url + "/#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f/run");
    await page.locator(".stage").nth(6).waitFor();
    await page.locator(".stage > summary").nth(2).click();
  },
  rename: async (page) => {
    await page.goto(plain.url);
    await say(page, "list the resources matching medlar");
    await settled(page);
    await page.getByRole("button", { name: "Rename…" }).click();
    await page.locator("#title").waitFor();
  },
  files: async (page) => {
    await page.goto(plain.url);
    await page.locator("input[type=file]").setInputFiles([{ name: "plan.png", mimeType: "image/png", buffer: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC", "base64") }, { name: "notes of the meeting.md", mimeType: "", buffer: Buffer.from("buy kiwis") }]);
    await page.locator(".files li").nth(1).waitFor();
  },
  search: async (page) => {
    for (let n = 0; n < 6; n++) await plain.ask("/conversations", { message: "list the resources matching apple" + n });
    await page.goto(plain.url);
    if (await page.locator(".menu").isVisible()) await page.locator(".menu").click();
    await page.getByLabel("Search conversations").fill("answered apple3");
    await page.locator(".excerpt").first().waitFor();
  },
  commands: async (page) => {
    await page.goto(plain.url);
    await say(page, "!list");
    await page.locator(".command-reply").waitFor();
    await page.locator("#message").pressSequentially("!");
    await page.locator(".offer button").nth(10).waitFor();
  },
  login: async (page) => {
    const refused = (r) => r.fulfill({ status: 401, json: { error: "a login is needed" } });
    for (const of of ["approvals?*", "conversations?*", "tools", "me", "?"]) await page.route(`${plain.url}/${of.replace("?", "\\?")}`, refused);
    await page.route("**/auth/methods", (r) => r.fulfill({ json: { methods: [{ type: "oidc", login: true, issuer: "https://login.example.com" }, { type: "keys", login: true }] } }));
    await page.goto(plain.url);
    await page.locator("#key").waitFor();
  },
  download: async (page) => {
    await page.goto(plain.url);
    await say(page, "list the resources matching medlar");
    await settled(page);
    await page.getByRole("button", { name: "Download…" }).click();
  },
  delete: async (page) => {
    await page.goto(plain.url);
    await say(page, "add a resource named cherry with value 2");
    await page.getByText("it expires").waitFor();
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByText("Delete this conversation?").waitFor();
  },
  deleted: async (page) => {
    await page.goto(plain.url);
    await say(page, "list the resources");
    await settled(page);
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("This conversation is deleted").waitFor();
  },
  trouble: async (page) => {
    await page.route("**/conversations/*/events*", (r) => r.fulfill({ status: 401, json: { error: "the token has expired" } }));
    await page.goto(plain.url + "/#/c/7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f");
    await page.locator(".failure").waitFor();
  },
};

// fill has approvals of several kinds wait, once.
let filled = false;
async function fill() {
  if (filled) return;
  filled = true;
  const edit = { path: "notes.md", old_text: "# Notes\n\nCall Ann\nBuy milk\n", new_text: "# Notes\n\nCall Ann on Friday\nBuy milk\n" };
  const calls = [...["Ann", "Ben", "Cleo"].map((to) => `mail {"to":"${to.toLowerCase()}@example.com","text":"The meeting moves to Friday."}`),
    `edit ${JSON.stringify(edit)}`, ...[1, 2, 3, 4].map((n) => `note {"name":"invoice-${n}","text":"paid"}`)];
  for (const call of calls) await scripted.ask("/conversations", { message: "call " + call }, { Prefer: "respond-async" });
}

const picked = new RegExp(process.env.CHECKS ?? "");
for (const colorScheme of ["light", "dark"]) {
  for (const width of [320, 1280]) {
    for (const [name, show] of Object.entries(views).filter(([name]) => picked.test(name))) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      await useSources(context);
      const page = await context.newPage();
      await show(page);
      await page.waitForTimeout(300); // times and the list
      await page.setViewportSize({ width, height: Math.max(800, await page.evaluate(() => document.documentElement.scrollHeight)) }); // what sticks is where it belongs
      await page.screenshot({ path: join(dir, `${name}-${width}-${colorScheme}.png`) });
      if (["approval", "changes", "question", "delete"].includes(name)) await page.getByRole("button", { name: "Stop" }).click().then(() => page.getByRole("heading", { name: "Withdrawn" }).waitFor());
      await context.close();
    }
  }
}
await browser.close();
await end();
