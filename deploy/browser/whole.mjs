// The checks of what is done with a conversation as a whole.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { check } from "../conformance/check.mjs";

export async function wholeChecks({ plain, scripted, open, visitor, say, button, waiting, decided, reply, idOf }) {
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

  await check("a conversation is renamed, and has its title in every list and tab, and after a restart", async () => {
    const page = await open(plain);
    await say(page, "add a resource named medlar with value 2");
    await waiting(page).waitFor();
    const elsewhere = await visitor(), other = await open(plain, "#/c/" + idOf(page), elsewhere);
    await button(page, "Rename…").click();
    await page.locator("#title:focus").waitFor();
    assert.equal(await page.locator("#title").inputValue(), "add a resource named medlar with value 2");
    await page.locator("#title").fill("bad\u202Etitle");
    await page.locator("#title").press("Enter");
    await page.locator(".whole .failure", { hasText: "U+202E" }).waitFor();
    await page.locator("#title").fill("Fruit for the canteen");
    await page.locator("#title").press("Enter");
    for (const p of [page, other]) {
      await p.locator(".whole h2", { hasText: "Fruit for the canteen" }).waitFor();
      await item(p, "Fruit for the canteen").waitFor();
    }
    assert.equal(await waiting(page).count(), 1, "the approval is gone");
    const { conversation } = await plain.ask("/conversations/" + idOf(page));
    assert.equal(conversation.title, "Fruit for the canteen");
    assert.ok(conversation.renamed.at);
    await plain.end("SIGKILL");
    await plain.start();
    await page.reload();
    await page.locator(".whole h2", { hasText: "Fruit for the canteen" }).waitFor();
    await item(page, "Fruit for the canteen").waitFor();
    await button(page, "Reject").click();
    await decided(page, "Rejected").waitFor();
    await Promise.all([page.close(), elsewhere.close()]);
  });

  await check("a conversation is downloaded as JSON and as Markdown", async () => {
    const page = await open(plain);
    await say(page, "list the resources matching sloe");
    await reply(page, "The tool resources_list answered").waitFor();
    await button(page, "Download…").click();
    for (const [link, ending, sign] of [["Markdown, for people", ".md", "> list the resources matching sloe"], ["JSON, for programs", ".json", '"content": "list the resources matching sloe"']]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: link }).click()]);
      assert.equal(file.suggestedFilename(), "conversation_" + idOf(page) + ending);
      assert.ok(readFileSync(await file.path(), "utf8").includes(sign), ending);
    }
    await page.close();
  });

  await check("conversations are found by words in their titles and texts", async () => {
    for (let n = 0; n < 6; n++) await plain.ask("/conversations", { message: "list the resources" }); // a short list has no search
    const page = await open(plain);
    await page.locator("#conversations li").nth(5).waitFor();
    await say(page, "list the resources matching bullace");
    await reply(page, "The tool resources_list answered").waitFor();
    const id = idOf(page);
    await plain.ask("/conversations/" + id + "/close", {});
    await page.getByLabel("Search conversations").fill("ANSWERED bullace");
    await page.getByText(/^1 found in \d+ titles and \d+ texts/).waitFor();
    await page.locator(".excerpt", { hasText: "answered" }).waitFor();
    await page.getByLabel("Search conversations").fill("no such words");
    await page.getByText(/^0 found in/).waitFor();
    await page.getByLabel("Search conversations").fill("");
    await page.locator("#conversations li").nth(5).waitFor();
    await button(page, "Delete…").click();
    await button(page, "Delete").click();
    await page.getByText("This conversation is deleted.").waitFor();
    await page.getByLabel("Search conversations").fill("bullace");
    await page.getByText(/^0 found in/).waitFor();
    await page.close();
  });

  await check("images and texts are chosen, dropped and pasted, shown, and sent with a message", async () => {
    const page = await open(scripted), picker = page.locator("input[type=file]");
    const image = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC", "base64");
    await picker.setInputFiles([{ name: "plan.png", mimeType: "image/png", buffer: image }, { name: "notes.md", mimeType: "", buffer: Buffer.from("buy kiwis") }]);
    await page.locator(".files li").nth(1).waitFor();
    assert.ok(await page.locator(".files img").evaluate((img) => img.decode().then(() => img.naturalWidth)), "the image is not shown");
    await page.getByRole("button", { name: "Remove notes.md" }).click();
    for (const type of ["paste", "drop"]) {
      await page.locator("#message").evaluate((box, type) => {
        const files = new DataTransfer();
        files.items.add(new File(["a list of " + type], type + ".txt", { type: "text/plain" }));
        box.dispatchEvent(type === "paste" ? new ClipboardEvent("paste", { clipboardData: files, bubbles: true, cancelable: true }) : new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
      }, type);
      await page.locator(".files li", { hasText: type + ".txt" }).waitFor();
    }
    let posts = 0;
    page.on("request", (r) => { if (r.method() === "POST") posts++; });
    await picker.setInputFiles([{ name: "large.txt", mimeType: "text/plain", buffer: Buffer.alloc(7_000_000, "x") }]);
    await page.getByText("large.txt is too large").waitFor();
    await picker.setInputFiles([{ name: "papers.zip", mimeType: "application/zip", buffer: Buffer.from([0x50, 0x4b, 3, 4, 0xff, 0]) }]);
    await page.getByText("papers.zip is neither").waitFor();
    await picker.setInputFiles([{ name: "paper.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7\n%\xff", "latin1") }]);
    await page.getByRole("button", { name: "Remove paper.pdf" }).click();
    assert.equal(posts, 0, "something was sent");
    await say(page, "say thanks for the files");
    await reply(page, "thanks for the files").waitFor();
    await page.locator(".files").waitFor({ state: "detached" });
    await page.reload();
    const sent = page.locator(".message.user");
    for (const text of ["[image plan.png]", "a list of paste", "a list of drop"]) await sent.getByText(text).waitFor();
    assert.ok(await sent.locator("figure img").evaluate((img) => img.decode().then(() => img.naturalWidth)), "the image that was sent is not shown");
    await page.close();
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
