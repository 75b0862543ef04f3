// The checks of commands, such as !list, and of short IDs.
import assert from "node:assert/strict";
import { check } from "../conformance/check.mjs";

export async function commandChecks({ plain, open, say, button, waiting, decided, reply, idOf }) {
  const said = (page, text) => page.locator(".command-reply").filter({ hasText: text });

  await check("commands are offered, carried out and not sent", async () => {
    const page = await open(plain);
    await page.locator("#message").fill("!l");
    await button(page, "!list").click();
    assert.equal(await page.locator("#message").inputValue(), "!list ");
    await page.keyboard.press("Enter");
    await said(page, /^  #|There are no conversations/).waitFor();
    await say(page, "!halp");
    await said(page, "!halp is no command. It was not sent.").waitFor();
    assert.equal(await page.locator(".message").count(), 0, "a command was sent");
    await say(page, "!!list the resources matching ten");
    await page.locator(".message.user").filter({ hasText: "!list the resources matching ten" }).waitFor();
    await page.close();
  });

  await check("commands decide what is shown, lead to other conversations by short IDs, and delete", async () => {
    const page = await open(plain);
    await say(page, "add a resource named medlar with value 9");
    await waiting(page).waitFor();
    const short = (await plain.ask("/conversations?id=" + idOf(page))).conversations[0].short_id;
    await page.locator("#conversations li a", { hasText: short }).waitFor();
    await say(page, "!tree");
    await said(page, "waits for approval").waitFor();
    await say(page, "!reject not in season");
    await decided(page, "Rejected").waitFor();
    await said(page, "is rejected: resources_add").waitFor();
    const id = idOf(page);
    await say(page, "!new");
    await page.waitForFunction(() => location.hash === "#/");
    await say(page, "!use " + short);
    await decided(page, "Rejected").waitFor();
    assert.equal(idOf(page), id);
    const other = await open(plain, "#/c/" + short.slice(1));
    await decided(other, "Rejected").waitFor();
    assert.equal(idOf(other), id);
    await say(page, "!use #0000");
    await page.locator(".failure").filter({ hasText: "conversation not found" }).waitFor();
    await say(page, "!delete");
    await page.waitForFunction(() => location.hash === "#/");
    await Promise.all([page.close(), other.close()]);
  });

  await check("the model that is chosen is shown and survives a reload, before it is used and after", async () => {
    const page = await open(plain), hint = page.locator("#hint", { hasText: "For demo:rules." });
    await say(page, "!model demo:rules");
    await said(page, "The next message is for demo:rules").waitFor();
    await hint.waitFor();
    await page.reload();
    await hint.waitFor();
    await say(page, "list the resources matching rowan");
    await reply(page, "The tool resources_list answered").waitFor();
    assert.equal((await plain.ask("/conversations/" + idOf(page))).conversation.model, "demo:rules");
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await hint.waitFor();
    await say(page, "!model");
    await said(page, "demo:rules was chosen for this conversation.").waitFor();
    await page.close();
  });
}
