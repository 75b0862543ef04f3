// The checks of the inbox, of approvals at their own addresses, and of runs.
import assert from "node:assert/strict";
import { check } from "../conformance/check.mjs";
import { pause } from "./agent.mjs";

const waits = async (agent, n) => {
  for (const end = Date.now() + 20_000; Date.now() < end; await pause(100)) {
    const { approvals } = await agent.ask("/approvals?limit=200");
    if (approvals.length === n) return approvals;
  }
  throw new Error(`not ${n} approvals wait: ${(await agent.ask("/approvals?limit=200")).approvals.length}`);
};

const start = (agent, message) => agent.ask("/conversations", { message }, { Prefer: "respond-async" });
const said = (page, text) => page.locator(".said", { hasText: text }).waitFor();
const openRow = (page) => page.locator(".rows > li.open");
// ready waits until the open row has been in sight for a moment.
const ready = async (page) => { await openRow(page).locator("form").waitFor(); await page.waitForTimeout(360); };

export async function inboxChecks({ plain, scripted, pair, visit, button, decided, reply }) {
  await check("an inbox of 100 mixed approvals is worked off by keyboard in well under five minutes", async () => {
    for (let n = 0; n < 11; n++) {
      await Promise.all(Array.from({ length: 9 }, (_, k) => start(scripted, k < 5 ? `call note {"name":"note ${9 * n + k}","text":"line one\\nline two"}`
        : k < 7 ? `call mail {"to":"person${n}@example.com","text":"Hello ${k}"}` : `call edit {"path":"notes/${n}.md","old_text":"a\\nb","new_text":"a\\nc${k}"}`)));
    }
    await waits(scripted, 99);
    await start(scripted, "call seats");
    await waits(scripted, 100);
    const page = await visit(scripted, "#/inbox");
    await page.locator(".inbox h2 .count", { hasText: "100" }).waitFor();
    const key = (k) => page.keyboard.press(k), began = Date.now();
    let left = 100;
    const gone = async () => { left--; await page.locator(".inbox h2 .count", { hasText: String(left) }).waitFor(); };

    await key("j"); // one by one: approve, reject with a reason, not now
    for (let n = 0; n < 9; n++) {
      await ready(page);
      if (n % 3 === 0) { await key("a"); await said(page, "Approved"); }
      if (n % 3 === 1) { await key("r"); await page.keyboard.type("not this one"); await key("Enter"); await said(page, "Rejected"); }
      if (n % 3 === 2) { await key("n"); await page.locator(".times button:focus").waitFor(); await key("Enter"); await said(page, "Put off"); }
      await gone();
    }
    await page.locator("#filter").focus(); // the question has a form
    await page.keyboard.type("seats");
    await key("Enter");
    await page.locator(".inbox h2 .count", { hasText: "1" }).waitFor();
    await key("j");
    await openRow(page).getByRole("spinbutton", { name: "Seats" }).waitFor();
    await key("a");
    await page.keyboard.type("F"); // its fields are the class, a remark and the seats
    await key("Tab");
    await key("Tab");
    await page.keyboard.type("3");
    for (let tabs = 0; tabs < 8 && !await button(page, "Send the answer").evaluate((b) => b === document.activeElement); tabs++) await key("Tab");
    await key("Enter");
    await said(page, "Answered");
    await page.locator("#filter").fill("");
    left--;
    for (let groups = 0; left && groups < 3; groups++) { // the rest group by group, each after a second look
      await page.locator(".inbox h2 .count", { hasText: String(left) }).waitFor();
      const all = page.getByRole("button", { name: "Select all" }).first(), n = Number((await all.innerText()).match(/\d+/)[0]);
      await all.focus();
      await key("Enter");
      await page.getByText(`${n} selected`).waitFor();
      await key("a");
      await page.getByRole("heading", { name: `Approve these ${n} calls?` }).waitFor();
      await button(page, `Approve ${n}`).focus();
      await key("Enter");
      await said(page, `${n} approved`);
      left -= n;
    }
    await page.getByText("Nothing waits for you.").waitFor();
    const seconds = (Date.now() - began) / 1000;
    console.log(`     100 approvals in ${seconds.toFixed(0)} s`);
    assert.ok(seconds < 150, `${seconds} s`);
    const rest = await waits(scripted, 3);
    assert.ok(rest.every((a) => a.deferred_until), "what is put off does not say so");
    await button(page, "Put off (3)").click();
    await page.locator(".rows .pill", { hasText: "put off" }).nth(2).waitFor();
    await page.close();
  });

  await check("approvals stay in the inbox when the newest are read again, in whatever order they came and began", async () => {
    // The list is ordered by when an approval began in Temporal; created_at is when it was asked for.
    const item = (n) => ({ uuid: `3d0e7a52-9c41-4a8e-b0de-6f5a4b3c${2000 + n}`, conversation_id: "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f", tool_name: "note", tool_args: { n }, reason: "destructive", url: "", created_at: `2026-03-01T10:00:${n}Z` });
    let list = [50, 49, 48, 46, 47, 45, 44].map(item), began = 0, released;
    const page = await visit(scripted), hold = [];
    await page.goto("about:blank");
    await page.route(/\/approvals\?/, async (r) => { // pages of four
      const at = Number(new URL(r.request().url()).searchParams.get("cursor") ?? 0), answer = { approvals: list.slice(at, at + 4), next_cursor: list.length > at + 4 ? String(at + 4) : undefined };
      if (hold.length) await hold.shift();
      if (!at) began++;
      await r.fulfill({ json: answer });
    });
    await page.route("**/approvals/*", (r) => r.fulfill({ json: { approval: list.find((a) => r.request().url().includes(a.uuid)), status: "pending" } }));
    const count = (n) => page.locator(".inbox h2 .count", { hasText: new RegExp(`^${n}\\b`) }).waitFor();
    const again = async () => { for (const n = began; began < n + 2;) await page.waitForTimeout(100); };
    await page.goto(scripted.url + "/#/inbox");
    await count(7);
    await again(); // 47 is behind 46, and not among the newest four
    await count(7);
    list = list.filter((a) => !a.created_at.includes(":49"));
    await count(6); // what went elsewhere is gone with the next read
    await page.route("**/approvals/*/later", (r) => r.fulfill({ json: { deferred_until: "2099-12-31T10:00:00Z" } }));
    hold.push(new Promise((done) => { released = done; })); // a read that began before something was put off ends after it
    await page.waitForTimeout(4500);
    await page.locator(".row", { hasText: "50" }).click();
    await button(page, "Not now").click();
    await button(page, "In a week").click();
    await count(5);
    released();
    for (const n = began; began === n;) await page.waitForTimeout(100);
    await page.waitForTimeout(200);
    await count(5);
    await page.close();
  });

  await check("not now is kept over a restart of the server, is no decision, and can be taken back", async () => {
    const { conversation_id: id } = await start(plain, "add a resource named later with value 1");
    const uuid = (await waits(plain, 1))[0].uuid;
    const page = await visit(plain, "#/c/" + id);
    await button(page, "Not now").click();
    await button(page, "Tomorrow at 9").click();
    await page.getByText("You have put this off until").waitFor();
    await plain.end("SIGKILL");
    await plain.start();
    await page.goto(plain.url + "/#/inbox");
    await page.getByText("Nothing waits for you.").waitFor();
    await button(page, "Put off (1)").click();
    await page.locator(".rows .row").click();
    await button(page, "Have it back").click();
    await page.getByText("You have put this off until").waitFor({ state: "detached" });
    assert.equal((await plain.ask("/approvals/" + uuid)).status, "pending");
    await button(page, "Reject").click();
    await said(page, "Rejected");
    await page.close();
  });

  await check("an approval has an address for colleagues, and one that is not theirs is told from an error", async () => {
    await start(plain, "add a resource named shared with value 1");
    const { uuid } = (await waits(plain, 1))[0];
    const page = await visit(plain, "#/a/" + uuid);
    await page.getByRole("heading", { name: "Run resources_add?" }).waitFor();
    await plain.ask("/approvals/" + uuid, { approved: false, by: "bob" });
    await decided(page, "Rejected by bob").filter({ hasText: "decided elsewhere" }).waitFor();
    await page.goto(plain.url + "/#/a/3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e");
    await page.getByText("does not exist, or it is not for you to see").waitFor();
    await page.close();
  });

  await check("what comes into the inbox and goes elsewhere is seen without a reload", async () => {
    const page = await visit(plain, "#/inbox");
    await page.getByText("Nothing waits for you.").waitFor();
    await start(plain, "add a resource named new with value 1");
    await page.locator(".rows .row", { hasText: "name: new" }).click();
    await openRow(page).locator("form").waitFor();
    const { uuid } = (await waits(plain, 1))[0];
    await plain.ask("/approvals/" + uuid, { approved: false, by: "bob" });
    await decided(page, "Rejected by bob").filter({ hasText: "decided elsewhere" }).waitFor();
    await page.close();
  });

  await check("the run shows the nodes of a pipeline with branches and a loop, live", async () => {
    const { conversation_id: id } = await start(pair, "go");
    const page = await visit(pair, "#/c/" + id);
    await page.getByRole("link", { name: "The run" }).click();
    const node = (name) => page.locator(".stage").filter({ has: page.locator("strong", { hasText: name }) });
    await node("left").getByText("waits for a decision").waitFor();
    await node("polish").getByText("not started").waitFor();
    await page.getByRole("link", { name: "resources_add waits" }).first().click();
    await button(page, "Approve").click();
    await decided(page, "Approved").waitFor();
    await page.goBack();
    for (const a of (await pair.ask("/approvals")).approvals.filter((a) => a.conversation_id === id)) await pair.ask("/approvals/" + a.uuid, { approved: true });
    await node("polish").getByText("2 of 2").waitFor();
    await node("pipeline").getByText("done").waitFor();
    await node("left").locator("summary").click();
    await node("left").getByText("Started").waitFor();
    await page.getByText("As text").click();
    assert.match(await page.locator(".run pre.value").last().innerText(), /pipeline \(one after the other\): done[^]*\n {2}both \(at the same time\): done[^]*\n {4}left \(model\): done[^]*\n {2}polish \(again and again\): done/);
    await page.goto(scripted.url);
    await page.close();
  });

  await check("a call that was rejected is not shown as failed", async () => {
    const { conversation_id: id } = await start(plain, "add a resource named refused with value 1");
    await plain.ask("/approvals/" + (await waits(plain, 1))[0].uuid, { approved: false });
    const page = await visit(plain, "#/c/" + id);
    await reply(page, "Operation cancelled").waitFor();
    await page.locator("details.call summary", { hasText: "rejected" }).waitFor();
    await page.close();
  });

  await check("what a call changes in a file is shown line by line, beside the whole arguments", async () => {
    const page = await visit(scripted);
    await page.locator("#message").fill("call note " + JSON.stringify({ old_text: "a\nb\nc", new_text: "a\nB\nc" }));
    await page.locator("#message").press("Enter");
    await page.locator(".diff .old", { hasText: "b" }).waitFor();
    await page.locator(".diff .new", { hasText: "B" }).waitFor();
    await page.locator(".card .arguments dd", { hasText: "B" }).first().waitFor();
    await button(page, "Reject").click();
    await page.close();
  });

  await check("a call that replaces a whole file says so, and one that adds to it does not", async () => {
    for (const [more, said] of [[{}, 1], [{ mode: "overwrite" }, 1], [{ mode: "append" }, 0]]) {
      const page = await visit(scripted);
      await page.locator("#message").fill("call write_file " + JSON.stringify({ path: "notes.md", content: "new", ...more }));
      await page.locator("#message").press("Enter");
      await page.locator(".card.waiting .arguments dd", { hasText: "notes.md" }).waitFor();
      assert.equal(await page.getByText("This seems to write a whole file").count(), said, JSON.stringify(more));
      await button(page, "Reject").click();
      await page.close();
    }
  });
}
