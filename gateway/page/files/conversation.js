// A conversation: its entries as its events tell them, and the input below.
import { html, nothing, repeat } from "./html.js";
import * as api from "./api.js";
import { Card } from "./card.js";
import { carryOut, isCommand, offer } from "./commands.js";
import { chosen, draft, keepChosen, keepDraft, ownName } from "./drafts.js";
import { entryView } from "./entries.js";
import { follow } from "./events.js";
import { asSent, Files } from "./files.js";
import { Whole } from "./whole.js";
import { reveal } from "./reveal.js";
import { apply } from "./shared.js";
import { toolLogin, unanswered } from "./tools.js";
import { namespace, Transcript } from "./transcript.js";
import { welcome } from "./welcome.js";
import { needsContent } from "./words.js";

const step = 150; // how many entries are shown at first, and with each click

// Conversation is an open conversation; without an id, one that has not begun.
export class Conversation {
  transcript = new Transcript();
  shared = { status: "active", pending_approvals: [] };
  running = false; known = false; steps = []; attempt = "";
  connection = "connecting"; failure; stopping = false;
  unsent = []; // {text, key, sent, seen}: messages that the events do not have yet
  shown = step;
  whole = new Whole(this);
  #cards = new Map();
  #stream;
  #place = { conversation: "", position: "" };

  focus = "#message"; follows = true;

  constructor(page, id) {
    const { changed, announce, begun, paused, agent } = page;
    Object.assign(this, { page, id, changed, announce, begun, paused, agent });
    this.files = new Files(changed, announce);
    this.cardOf = (uuid) => this.#card(uuid);
    this.#place.conversation = id;
    if (id) this.open();
  }

  open() {
    this.close();
    this.#stream = new AbortController();
    const signal = this.#stream.signal;
    this.connection = "connecting";
    follow(this.#place, {
      signal, take: (e) => this.#take(e), ended: () => this.completed, restart: () => { this.transcript = new Transcript(); },
      note: (state) => {
        if (state instanceof Error) this.#refused(state);
        if (state === "ended" && this.connection === "live") this.#recheck();
        this.connection = state instanceof Error ? "ended" : state;
        this.changed();
      },
    }).then(() => { if (!signal.aborted) this.changed(); });
  }

  close() { this.#stream?.abort(); }

  // check asks whether the conversation still exists.
  check() { return api.exists(this.id).catch((e) => { if (e.status === 410) this.gone(e); }); }

  // recheck does so for a conversation that has ended while it was shown: deleted ones end first.
  async #recheck() {
    for (const ms of [1000, 4000]) {
      await api.pause(ms);
      if (!this.deleted) await this.check();
    }
  }

  // gone shows no more of the conversation than that it was deleted.
  gone(failure) {
    this.close();
    Object.assign(this, { deleted: true, failure, connection: "ended", running: false, unsent: [], transcript: new Transcript() });
    this.shared = { status: "completed", pending_approvals: [] };
    keepDraft(this.id, "");
    this.changed();
  }
  sleep() { this.close(); }
  wake() { if (this.id || this.unsent.length) this.open(); }

  get waits() { return this.waiting.length; }

  // scrolled shows earlier entries before the reader arrives at them, and hides them again at the end.
  scrolled() {
    const box = document.scrollingElement;
    const shown = box.scrollTop < 600 && this.shown < this.transcript.entries.length ? this.shown + step
      : box.scrollHeight - box.scrollTop - box.clientHeight < 120 ? step : this.shown;
    if (shown !== this.shown) {
      this.shown = shown;
      this.changed();
    }
  }

  get waiting() { return this.shared.pending_approvals; }
  get shownApprovals() { return this.waiting.map((a) => a.uuid).filter((uuid) => this.#card(uuid).approval); }
  get completed() { return this.shared.status === "completed"; }
  // blocked tells that no message is taken: an approval that is not a question waits.
  get blocked() { return this.waiting.some((a) => { const p = this.#card(a.uuid).approval; return !(p ? needsContent(p) && p.reason !== "client_tool" : a.reason === "question"); }); }
  get title() { return this.page.titleOf(this.id) || this.shared.title || this.firstWords; }
  get firstWords() { return this.transcript.entries.find((e) => e.kind === "user")?.text.split("\n")[0].slice(0, 80) ?? this.unsent[0]?.text.slice(0, 80) ?? ""; }

  #card(uuid) {
    if (!this.#cards.has(uuid)) this.#cards.set(uuid, new Card(uuid, this.page));
    return this.#cards.get(uuid);
  }

  #take(e) {
    this.transcript.take(e);
    const waited = new Set(this.waiting.map((a) => a.uuid));
    this.shared = apply(this.shared, e);
    switch (e.type) {
      case "RUN_STARTED":
        if (this.id !== e.threadId) this.begun(this.id = e.threadId); // it is new, or the address has a short ID
        this.running = true; this.failure = undefined; this.steps = [];
        break;
      case "RUN_FINISHED":
        this.#finish(e.outcome?.type);
        break;
      case "RUN_ERROR":
        this.running = false;
        this.failure = new Error(e.message);
        break;
      case "STEP_STARTED": this.steps = [...this.steps, e.stepName]; break;
      case "STEP_FINISHED": this.steps = this.steps.filter((s) => s !== e.stepName); break;
      case "CUSTOM":
        if (e.name === namespace + ".attempt") this.attempt = e.value.text;
        if (e.name === namespace + ".decision") this.#card(e.value.uuid).settle(e.value);
        break;
      case "TEXT_MESSAGE_END":
        this.#forgetSent();
        if (isWithFile(this.transcript.find("user", e.messageId))) this.#readFiles();
        break;
    }
    for (const a of this.waiting) {
      const card = this.#card(a.uuid);
      if (!card.approval && !card.decision) card.load();
      if (!waited.has(a.uuid) && this.known) this.announce(`An approval waits: ${a.tool}`);
    }
    this.changed();
  }

  #finish(outcome) {
    const last = this.transcript.entries.findLast((e) => e.kind === "text");
    if (this.known && outcome === "success" && last) this.announce("Reply: " + last.text.slice(0, 300));
    if (this.known) this.paused();
    this.running = this.stopping = false; this.known = true; this.steps = []; this.attempt = "";
    if (this.shared.auth_required) unanswered(this.id).then((text) => { if (text) this.send(text); });
  }

  // #login asks to log in where the last turn ended because nobody had.
  #login() {
    const server = this.shared.auth_required;
    const last = this.transcript.entries.findLast((e) => e.kind === "user");
    if (!server || !last || this.running || this.completed || this.unsent.length) return nothing;
    const own = last.text.startsWith(this.last?.text) ? this.last : { text: last.text }; // of this tab: with its files
    return toolLogin(server, this.id, own.text, (text) => this.send(text, own));
  }

  // drop takes files that were dropped or pasted. A question of a tool server is not answered with files.
  drop(e) { if (!this.completed && !this.waiting.length) this.files.pasted(e); }

  // readFiles reads the images and PDFs of messages, which events do not have.
  #readFiles() {
    this.reading ??= api.pause(200).then(() => api.exists(this.id)).then(({ conversation }) => {
      for (const m of conversation.messages) {
        const entry = this.transcript.find("user", m.draft ?? m.id);
        if (entry) entry.media = m.media?.map(({ mime_type, ...rest }) => ({ ...rest, mimeType: mime_type }));
      }
    }).catch(() => {}).finally(() => { this.reading = undefined; this.changed(); });
  }

  // forgetSent removes messages that have come back as entries.
  #forgetSent() {
    if (!this.unsent.length) return;
    const users = this.transcript.entries.filter((e) => e.kind === "user");
    this.unsent = this.unsent.filter((m) => !users.some((e, n) => n >= m.after && (m.files.length ? e.text.startsWith(m.text) : e.text.trim() === m.text)));
  }

  // send sends a message, for a model that answers it, or with the model that was chosen for all.
  async send(text, { model, files = [] } = {}) {
    const place = this.id ?? "", always = chosen(place);
    const choice = model ? { model } : always ? { model: always, keep_model: true } : {};
    this.last = { text, model, files };
    const message = { text, files, key: api.randomID(), after: this.transcript.entries.filter((e) => e.kind === "user").length, state: "sending" };
    this.unsent = [...this.unsent, message];
    this.failure = undefined;
    keepDraft(this.id ?? "", "");
    this.changed();
    try {
      if (this.id) {
        await api.send(this.id, text, message.key, { ...choice, files: asSent(files) });
        if (this.waiting.length) this.unsent = this.unsent.filter((m) => m !== message); // it was the answer to a question
      } else {
        this.known = true;
        this.#place.first = api.start(text, { ...choice, files: asSent(files) });
        this.open();
      }
      message.state = "sent";
      if (!model) keepChosen(place, "");
    } catch (e) {
      if (e.status === 400) keepChosen(place, ""); // it may be that this cannot be chosen any more
      this.#refused(e);
    }
    this.changed();
  }

  // refused shows a failure, and returns what was not taken to the box.
  #refused(failure) {
    if (failure.status === 410) return this.gone(failure);
    this.failure = failure;
    const { text, files } = this.unsent.at(-1) ?? {};
    if (!files || failure.status === 404) return;
    this.files.list = [...files, ...this.files.list];
    this.unsent = this.unsent.slice(0, -1);
    this.giveBack(text);
  }

  // giveBack returns a text to the box.
  giveBack(text) {
    keepDraft(this.id ?? "", text);
    const box = document.querySelector("#message");
    if (box && !box.value) box.value = text;
  }

  async stop() {
    this.stopping = true;
    this.failure = undefined;
    this.changed();
    try {
      await api.cancel(this.id, ownName());
    } catch (e) {
      this.failure = e;
      this.stopping = false;
    }
    this.changed();
  }

  view() {
    const { entries } = this.transcript;
    const cards = new Set(entries.filter((e) => e.kind === "notice" && e.uuid).map((e) => e.uuid));
    const list = entries.filter((e) => e.kind !== "decision" || !cards.has(e.uuid));
    const first = Math.max(0, list.length - this.shown);
    return html`
      ${this.id || this.unsent.length ? this.whole.view() : welcome(this.page)}
      <section class="messages" aria-label="Messages" aria-busy=${this.running ? "true" : "false"}>
        ${first ? html`<button type="button" class="plain earlier" @click=${() => { this.shown += step; this.changed(); }}>Show earlier entries (${first} more)</button>` : nothing}
        ${repeat(list.slice(first), (e) => e.kind + e.id, (e) => html`<div class="entry">${entryView(e, this)}</div>`)}
        ${repeat(this.waiting.filter((a) => !cards.has(a.uuid)), (a) => a.uuid, (a) => html`<div class="entry">${this.#card(a.uuid).view()}</div>`)}
        ${repeat(this.unsent, (m) => m.key, (m) => html`<div class="entry"><article class="message user"><div class="bubble unsent">${m.text}${m.files.map((f) => html`<div>${reveal(f.name)}</div>`)}</div>
          <p class="quiet">${m.state === "sending" ? "Sending…" : this.running ? "Waits for the turn to end" : "Sent"}</p></article></div>`)}
        ${this.said ? html`<pre class="command-reply" role="status">${reveal(this.said)}</pre>` : nothing}
        ${this.#login()}${this.#status()}
      </section>
      ${this.#input()}`;
  }

  #status() {
    if (this.deleted) return html`<p class="status">${this.failure.message}</p>`;
    if (this.failure) return html`<p class="failure" role="alert">${this.failure.message}
      ${this.id && this.connection === "ended" && this.failure.status !== 404 ? html`<button type="button" class="plain" @click=${() => { this.failure = undefined; this.open(); this.changed(); }}>Try again</button>` : nothing}</p>`;
    if (this.connection === "lost") return html`<p class="status" role="status">The connection is lost. Nothing is lost with it; the page connects again by itself.</p>`;
    if (this.running) return html`<p class="status"><span class="working" aria-hidden="true"></span>${this.stopping ? "Stopping…" : this.attempt || (this.steps.length ? `${this.steps.join(", ")} at work…` : "The agent is at work…")}</p>`;
    if (this.id && !this.known && this.connection !== "ended") return html`<p class="status">Reading the conversation…</p>`;
    return nothing;
  }

  #input() {
    const run = this.id ? html`<a class="quiet" href=${"#/c/" + this.id + "/run"}>The run</a>` : nothing;
    if (this.deleted) return html`<footer class="input closed"><p>Nothing of it is left to show. <a href="#/">Start a new conversation</a></p></footer>`;
    if (this.completed) return html`<footer class="input closed"><div class="below"><p>This conversation is closed. <a href="#/">Start a new one</a>.</p>${run}</div></footer>`;
    if (this.failure?.status === 404) return html`<footer class="input closed"><p><a href="#/">Start a new conversation</a></p></footer>`;
    const busy = this.id && (this.running || this.waiting.length > 0 || this.unsent.length > 0);
    const submit = (e) => {
      e.preventDefault();
      const box = e.currentTarget.elements.message;
      const text = box.value.trim();
      if (!text && !this.files.list.length || this.blocked && !isCommand(text)) return;
      box.value = this.typed = "";
      fit(box);
      keepDraft(this.id ?? "", "");
      this.said = undefined;
      isCommand(text) ? carryOut(this, text) : this.send(text, { files: this.files.take() });
    };
    const type = (text) => {
      keepDraft(this.id ?? "", text);
      if (isCommand(text) || isCommand(this.typed ?? "")) this.changed(); // the offer
      this.typed = text;
    };
    const pick = (text) => {
      const box = document.querySelector("#message");
      type(box.value = text + " ");
      box.focus();
    };
    const asked = this.waiting.length > 0, model = chosen(this.id ?? "") || this.shared.model;
    return html`<footer class="input">${this.files.view()}<form @submit=${submit}>
      <label class="unseen" for="message">Message to the agent</label>
      <textarea id="message" name="message" rows="1" placeholder=${this.blocked ? "Decide first, or stop the turn" : "Message the agent"} aria-describedby="hint"
        .value=${this.initialDraft()} @input=${(e) => { type(e.target.value); fit(e.target); }}
        @paste=${(e) => this.drop(e)}
        @keydown=${(e) => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); e.target.form.requestSubmit(); } }}></textarea>
      ${this.files.button(asked)}
      ${busy ? html`<button type="button" class="stop" ?disabled=${this.stopping} @click=${() => this.stop()}>${this.stopping ? "Stopping…" : "Stop"}</button>` : nothing}
      <button type="submit" class="primary" ?disabled=${this.blocked && !isCommand(this.typed ?? "")}>Send</button></form>
      ${offer(this.typed ?? "", pick)}
      <div class="below"><p id="hint" class="quiet">${model ? html`For ${reveal(model)}. ` : nothing}${this.blocked ? "An approval waits above. Stop ends the turn without running the call." : "Enter sends, Shift and Enter begin a new line. ! begins a command."}</p>${run}</div></footer>`;
  }

  // initialDraft is the draft of the time when the conversation was opened: what is typed since is in the box.
  initialDraft() { return this.kept ??= draft(this.id ?? ""); }
}

// isWithFile tells that an image or a PDF came with a message: its text names it.
const isWithFile = (entry) => entry && !entry.media && /^\[(image|PDF) .*\]$/m.test(entry.text);

// fit makes a text box as high as its text.
function fit(box) {
  box.rows = Math.min(10, Math.max(1, box.value.split("\n").length, Math.ceil(box.value.length / Math.max(20, box.clientWidth / 8))));
}
