// The checks of a reader who is away, and of a connection that is.
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { check } from "../conformance/check.mjs";

// serveCable stands between a browser and an agent until cut breaks every connection.
async function serveCable(agent) {
  const { hostname, port } = new URL(agent.url), open = new Set();
  const server = createServer((near) => {
    const far = connect(port, hostname);
    for (const [socket, other] of [[near, far], [far, near]]) {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => { open.delete(socket); other.destroy(); }).pipe(other);
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const cut = () => { for (const socket of open) socket.destroy(); };
  return { url: `http://127.0.0.1:${server.address().port}`, cut, close: () => { server.close(); cut(); } };
}

// noted replaces the notices of the browser by a list, and has the page away when the test says so.
function noted() {
  globalThis.notices = [];
  globalThis.Notification = class {
    static get permission() { return sessionStorage.permission ?? "default"; }
    static async requestPermission() { return sessionStorage.permission = "granted"; }
    constructor(title, options) { Object.assign(this, { title, ...options }); globalThis.notices.push(this); }
    close() { this.closed = true; }
  };
  Object.defineProperty(Document.prototype, "hidden", { configurable: true, get: () => globalThis.away ?? false });
}

export async function absenceChecks({ plain, scripted, model, visitor, say, reply }) {
  await check("a reply that is being written goes on in its place when the connection breaks", async () => {
    const cable = await serveCable(scripted), in_ = await visitor(), page = await in_.newPage();
    await page.goto(cable.url);
    await page.locator("#message").waitFor();
    let streams = 0;
    page.on("request", (r) => { if (r.url().includes("/events")) streams++; });
    const words = "alpha beta gamma delta epsilon zeta eta theta iota kappa \n\n".repeat(8);
    await say(page, "held " + words);
    await page.evaluate(() => { globalThis.same = true; });
    for (let n = 1; n <= 3; n++) {
      await page.waitForFunction((n) => document.querySelector(".message.agent")?.innerText.match(/alpha/g)?.length > n, n);
      const before = (await page.locator(".message.agent").innerText()).length;
      cable.cut();
      model.next();
      await page.waitForFunction((before) => document.querySelector(".message.agent")?.innerText.length > before, before);
      assert.ok(await page.locator(".status", { hasText: "at work" }).count(), "the reply is complete: it did not go on while it was written");
    }
    for (let n = 0; n < 4; n++) model.next();
    await reply(page, /(alpha[^]*){8}kappa\s*$/).waitFor();
    await page.locator(".status").waitFor({ state: "detached" });
    assert.equal((await page.locator(".message.agent").innerText()).trim().replace(/\s+/g, " "), words.trim().replace(/\s+/g, " "));
    assert.equal(await page.locator(".message.agent").count(), 1);
    assert.equal(await page.evaluate(() => globalThis.same), true, "the page was loaded again");
    assert.equal(await page.locator(".message.user").count(), 1);
    assert.ok(streams >= 3, `${streams} streams were read: nothing was cut`);
    await in_.close();
    cable.close();
  });

  await check("a reader who is away gets a notice of a new approval, which leads to it", async () => {
    const in_ = await visitor();
    await in_.addInitScript(noted);
    const page = await in_.newPage();
    const asks = async (name) => (await plain.ask("/conversations", { message: `add a resource named ${name} with value 1` })).result.approval.uuid;
    const seen = (uuid) => page.locator("#row-" + uuid).waitFor();
    const notices = () => page.evaluate(() => globalThis.notices.map(({ title, body, tag, closed }) => ({ title, body, tag, closed })));
    await page.goto(plain.url + "/#/inbox");
    await seen(await asks("elder"));
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("button", { name: "Notify me", pressed: true }).waitFor();
    await seen(await asks("hawthorn"));
    assert.deepEqual(await notices(), [], "a reader who looks at the page gets a notice");
    await page.evaluate(() => { globalThis.away = true; });
    const uuid = await asks("rowan");
    await page.waitForFunction(() => globalThis.notices.length > 0, undefined, { timeout: 60_000 }); // it looks seldom then
    assert.deepEqual(await notices(), [{ title: "Run resources_add?", body: "helper", tag: uuid, closed: undefined }]);
    await page.evaluate(() => { globalThis.away = false; globalThis.notices[0].onclick(); });
    await page.locator("#approval-" + uuid).getByText("rowan").first().waitFor();
    assert.equal(new URL(page.url()).hash, "#/a/" + uuid);
    assert.equal((await notices())[0].closed, true, "the notice stays");
    await page.goto(plain.url + "/#/inbox");
    await page.reload();
    await page.getByRole("button", { name: "Notify me", pressed: true }).waitFor();
    assert.deepEqual(await notices(), [], "what waited before gives a notice");
    for (const { uuid } of (await plain.ask("/approvals?limit=200")).approvals) await plain.ask("/approvals/" + uuid, { approved: false });
    await in_.close();
  });
}
