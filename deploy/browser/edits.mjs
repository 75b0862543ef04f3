// The checks of approvals with changes of the arguments.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { check } from "../conformance/check.mjs";

const start = (agent, message) => agent.ask("/conversations", { message }, { Prefer: "respond-async" });
const pay = (more = {}) => "call pay " + JSON.stringify({ amount: 700, to: { city: "Bern", street: "Gasse 1" }, note: "first\r\nsecond", by: "Ann", ...more });
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
const change = (page) => page.getByRole("button", { name: "Change…" });
const approve = (page) => page.getByRole("button", { name: "Approve with changes" });
const amount = (page) => page.getByRole("spinbutton", { name: "amount" });
// instead is what the card says that runs instead, of an argument.
const instead = (page, name) => page.locator(".edit .what").getByRole("group", { name: "Change of " + name });

export async function editChecks({ scripted, open, visit, say, button, waiting, decided, reply, idOf, approvalOf }) {
  await check("what a rule lets be changed has a form, and what it says is what runs", async () => {
    const page = await open(scripted);
    await say(page, pay({ urgent: false, currency: "CHF", tags: ["red"], due: "2026-03-01", extra: { deep: [1] } }).replace(/}$/, ",\"big\":9007199254740993}"));
    await waiting(page).waitFor();
    const uuid = await approvalOf(scripted, page);
    assert.equal(await change(page).getAttribute("aria-expanded"), "false");
    await change(page).click();
    await page.locator("input:focus").waitFor();
    assert.equal(await amount(page).inputValue(), "700");
    assert.equal(await page.getByRole("spinbutton", { name: "big" }).inputValue(), "9007199254740993");
    const text = page.getByRole("textbox", { name: "note" }), city = page.getByRole("textbox", { name: "to.city" });
    assert.equal(await text.inputValue(), "first\nsecond");
    assert.equal(await page.getByLabel("by", { exact: true }).count(), 0, "what may not be changed has a field");
    await page.getByText("Nothing is changed: it runs as it was asked for.").waitFor();
    await amount(page).fill("400");
    await text.fill("first\nthird");
    await city.fill("Basel");
    await page.getByRole("combobox", { name: "urgent" }).selectOption("Yes");
    await page.getByRole("combobox", { name: "currency" }).selectOption("EUR");
    await page.getByRole("checkbox", { name: "blue" }).check();
    await page.getByLabel("due").fill("2026-04-02");
    await page.getByRole("textbox", { name: "extra" }).fill('{"deep": [2, 9007199254740995]');
    await page.getByRole("spinbutton", { name: "big" }).fill("9007199254740997");
    await page.getByRole("textbox", { name: "more" }).fill("new");
    await approve(page).click(); // the JSON is not closed
    assert.match(await page.getByRole("textbox", { name: "extra" }).evaluate((e) => e.validationMessage), /not JSON/);
    await page.getByRole("textbox", { name: "extra" }).fill('{"deep": [2, 9007199254740995]}');
    await page.getByText("10 arguments are changed").waitFor();
    const changed = async (name) => (await instead(page, name).innerText()).replace(/\n+/g, " ");
    assert.match(await changed("amount"), /700.*400/);
    assert.match(await changed("note"), /first.*second.*third/);
    assert.match(await changed("extra"), /9007199254740995/);
    assert.equal(await page.getByText("with what you changed").count(), 1);
    assert.match(await page.locator(".card.waiting .arguments").first().innerText(), /700/, "what was asked for is not shown any more");
    const what = '{"amount":400,"big":9007199254740997,"by":"Ann","currency":"EUR","due":"2026-04-02","extra":{"deep":[2,9007199254740995]},"more":"new","note":"first\\r\\nthird","tags":["red","blue"],"to":{"city":"Basel","street":"Gasse 1"},"urgent":true}';
    await page.getByLabel("Your name").fill("dora");
    await approve(page).click();
    await decided(page, "Approved with changes by dora").waitFor();
    await reply(page, "9007199254740997").waitFor();
    const { decision, approval } = await scripted.ask("/approvals/" + uuid);
    assert.equal(decision.revision.arguments_sha256, sha256(what), JSON.stringify(decision.revision.arguments));
    assert.equal(decision.arguments_sha256, approval.tool_args_sha256);
    for (let shown = 0; shown < 2; shown++) {
      const card = page.locator(".card.decided");
      await card.locator("summary").first().click();
      await card.getByRole("heading", { name: "Changed by dora" }).waitFor();
      assert.match((await card.getByRole("group", { name: "Change of to.city" }).innerText()).replace(/\n+/g, " "), /Bern.*Basel/);
      await card.getByRole("heading", { name: "Arguments that were asked for" }).waitFor();
      await page.reload();
      await decided(page, "Approved with changes by dora").waitFor(); // before anything is unfolded
    }
    await page.close();
  });

  await check("changes that are refused say why at their fields, keep what was typed, and decide nothing", async () => {
    const page = await open(scripted);
    await say(page, pay());
    await waiting(page).waitFor();
    const uuid = await approvalOf(scripted, page), pending = async () => assert.equal((await scripted.ask("/approvals/" + uuid)).status, "pending");
    await change(page).click();
    await amount(page).fill("405");
    await page.getByRole("textbox", { name: "note" }).fill("other");
    await approve(page).click();
    await page.locator("input[aria-invalid=true]:focus").waitFor();
    assert.match(await amount(page).evaluate((e) => e.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id).textContent).join(" ")), /must be a multiple of 10, not 405/);
    await pending();
    await page.getByText("nothing is decided").waitFor();
    await amount(page).fill("9000"); // which a rule denies
    await page.locator("[aria-invalid=true]").waitFor({ state: "detached" });
    await approve(page).click();
    await page.getByRole("alert").filter({ hasText: "Nobody pays more than 5000 at once." }).waitFor();
    assert.equal(await amount(page).inputValue(), "9000");
    assert.equal(await page.getByRole("textbox", { name: "note" }).inputValue(), "other");
    await pending();
    await page.getByRole("button", { name: "Undo the changes" }).click();
    await change(page).click();
    assert.equal(await amount(page).inputValue(), "700");
    await amount(page).fill("500");
    await button(page, "Reject").click();
    await decided(page, "Rejected").waitFor();
    assert.equal((await scripted.ask("/approvals/" + uuid)).decision.revision, undefined);
    await page.close();
  });

  await check("who changes something while somebody else decides is told that it has no effect", async () => {
    const one = await open(scripted);
    await say(one, pay());
    await waiting(one).waitFor();
    const two = await open(scripted, "#/c/" + idOf(one)), uuid = await approvalOf(scripted, one);
    await waiting(two).waitFor();
    await change(one).click();
    await amount(one).fill("300");
    await change(two).click();
    await amount(two).fill("200");
    await approve(two).click();
    await decided(two, "Approved with changes").waitFor();
    await decided(one, "Approved with changes").filter({ hasText: "decided elsewhere" }).filter({ hasText: "Your changes have no effect." }).waitFor();
    assert.deepEqual((await scripted.ask("/approvals/" + uuid)).decision.revision.changes, [{ name: "amount", before: "700", after: "200" }]);
    await two.close();

    await reply(one, "noted").waitFor(); // and now the other is faster than the reply
    await say(one, pay());
    await waiting(one).waitFor();
    const next = await approvalOf(scripted, one);
    await one.route("**/approvals/" + next, async (route) => {
      if (route.request().method() === "POST") await scripted.ask("/approvals/" + next, { approved: true, by: "bob" });
      await route.continue();
    });
    await change(one).click();
    await amount(one).fill("300");
    await approve(one).click();
    await decided(one, "Approved by bob").filter({ hasText: "Your changes have no effect." }).waitFor();
    await one.close();
  });

  await check("in the inbox keys do nothing while one types, changes stay with their card, and several are decided without", async () => {
    for (const n of [1, 2]) await start(scripted, pay({ note: "number " + n, tags: [] }));
    const page = await visit(scripted, "#/inbox"), key = (k) => page.keyboard.press(k);
    await page.locator("#filter").fill("number");
    await page.locator(".rows .row").nth(1).waitFor();
    await page.locator("#filter").press("Enter");
    await key("j");
    await change(page).click();
    await page.locator(".edit input:focus").waitFor();
    const text = page.getByRole("textbox", { name: "note" });
    const typed = await text.inputValue() + " ajkernx/";
    await text.press("End");
    await page.keyboard.type(" ajkernx/");
    assert.equal(await text.inputValue(), typed);
    await page.getByRole("checkbox", { name: "red" }).focus();
    for (const k of "ajkernx") await key(k);
    assert.equal(await waiting(page).count(), 1);
    await page.getByText("1 argument is changed").waitFor();
    await page.getByRole("textbox", { name: "extra" }).fill("{"); // which is not JSON
    await page.locator(".rows .row").first().focus();
    await key("j");
    await page.locator(".rows li:nth-child(2).open form").waitFor();
    await key("k");
    assert.equal(await text.inputValue(), typed);
    await instead(page, "note").getByText(typed).waitFor();
    await approve(page).click();
    assert.match(await page.getByRole("textbox", { name: "extra" }).evaluate((e) => e.validationMessage), /not JSON/);
    await page.getByRole("textbox", { name: "extra" }).fill("");
    await page.locator(".rows .row").first().focus();
    await key("x"); // both are selected, and the one with changes is left out
    await page.locator(".rows li:nth-child(2) input[type=checkbox]").check();
    await page.getByRole("button", { name: "Approve…" }).click();
    await page.getByRole("heading", { name: "Approve this call?" }).waitFor();
    await page.getByText("1 of those that you selected have to be looked at one by one").waitFor();
    await button(page, "Approve 1").click();
    await page.locator(".said", { hasText: "1 approved, 1 left" }).waitFor();
    await page.locator(".rows li.open form").waitFor();
    await page.waitForTimeout(400); // the card has been in sight
    await key("Escape");
    await key("j");
    await instead(page, "note").waitFor();
    await page.waitForTimeout(400);
    await key("a");
    await page.locator(".said", { hasText: "Approved with changes" }).waitFor();
    await page.close();
  });
}
