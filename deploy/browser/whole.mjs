// The checks of what is done with a conversation as a whole.
import assert from "node:assert/strict";
import { check } from "../conformance/check.mjs";

export async function wholeChecks({ plain, open, visitor, say, button, waiting, decided, reply, idOf }) {
  const item = (page, text) => page.locator("#conversations li a", { hasText: text });

  await check("a conversation is deleted after a question, and is gone in the list and in other tabs", async () => {
    const page = await open(plain);
    await say(page, "list the resources matching nine");
    await reply(page, "The tool resources_list answered").waitFor();
    await item(page, "matching nine").waitFor();
    const tab = await open(plain, "#/c/" + idOf(page)), elsewhere = await visitor();
    const other = await open(plain, "#/c/" + idOf(page), elsewhere);
    for (const p of [tab, other]) await reply(p, "The tool resources_list answered").waitFor();
    await button(page, "Delete…").click();
    await page.locator("h3:focus", { hasText: "Delete this conversation?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("button:focus", { hasText: "Delete…" }).waitFor();
    await button(page, "Delete…").click();
    await page.getByText("What stays is a record for audits").waitFor();
    await button(page, "Delete").click();
    await page.getByText("This conversation is deleted.").waitFor();
    for (const p of [tab, other]) await p.getByText("This was deleted").waitFor();
    for (const p of [page, tab, other]) {
      await item(p, "matching nine").waitFor({ state: "detached" });
      assert.equal(await p.locator(".message").count(), 0, "its messages are still shown");
      assert.equal(await p.locator("#message").count(), 0, "one can still write to it");
    }
    await page.reload();
    await page.getByText("This was deleted").waitFor();
    await Promise.all([page.close(), tab.close(), elsewhere.close()]);
  });

  await check("a conversation in which an approval waits is deleted only with it", async () => {
    const page = await open(plain);
    await say(page, "add a resource named quince with value 8");
    await waiting(page).waitFor();
    const uuid = (await plain.ask("/conversations/" + idOf(page))).conversation.pending_approval.uuid;
    await button(page, "Delete…").click();
    await page.getByText("An approval waits.").waitFor();
    await button(page, "Keep it").click();
    assert.equal(await waiting(page).count(), 1);
    await button(page, "Delete…").click();
    await button(page, "Withdraw and delete").click();
    await page.getByText("This conversation is deleted.").waitFor();
    assert.equal(await waiting(page).count(), 0);
    assert.match((await plain.ask("/approvals/" + uuid)).error, /no conversation found|deleted/);
    await page.close();
  });
}
