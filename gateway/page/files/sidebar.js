// The list of conversations, and what there is besides.
import { html, nothing, repeat } from "./html.js";
import * as api from "./api.js";
import { reveal } from "./reveal.js";
import { time } from "./time.js";
import { count } from "./waiting.js";
import { statusWord } from "./words.js";

export class Sidebar {
  items = []; next = ""; failure; loaded = false; isOpen = false;
  #more = [];
  #removed = new Set(); // conversations that were deleted here: the list lags

  constructor(page) { Object.assign(this, { page, changed: page.changed }); }

  // waits is how many approvals wait, or how many conversations as long as that is not known.
  get waits() { return count(this.page.waiting) ?? this.waiting; }

  // refresh reads the newest conversations again.
  async refresh() {
    try {
      const page = await api.conversations();
      this.items = page.conversations;
      this.waiting = page.summary.waiting_approval;
      if (!this.#more.length) this.next = page.next_cursor;
      this.failure = undefined;
    } catch (e) {
      this.failure = e;
    }
    this.loaded = true;
    this.changed();
  }

  async more() {
    try {
      const page = await api.conversations(this.next);
      this.#more.push(...page.conversations);
      this.next = page.next_cursor;
    } catch (e) {
      this.failure = e;
    }
    this.changed();
  }

  // remove forgets a conversation that was deleted.
  remove(id) {
    this.#removed.add(id);
    this.changed();
    this.refresh();
  }

  toggle(open = !this.isOpen) {
    this.isOpen = open;
    this.changed();
    if (open) requestAnimationFrame(() => document.querySelector("#conversations a")?.focus());
  }

  view(address, about, me) {
    const newest = new Set(this.items.map((c) => c.id));
    const list = [...this.items, ...this.#more.filter((c) => !newest.has(c.id))].filter((c) => !this.#removed.has(c.id));
    return html`<nav id="conversations" class=${this.isOpen ? "open" : ""} aria-label="Conversations" @keydown=${(e) => { if (e.key === "Escape") this.toggle(false); }}>
      <a class="new" href="#/" @click=${() => this.toggle(false)} aria-current=${address.length > 2 ? nothing : "page"}>New conversation</a>
      <a class="inboxes" href="#/inbox" @click=${() => this.toggle(false)} aria-current=${address === "#/inbox" ? "page" : nothing}>Inbox${this.waits ? html` <span class="count">${this.waits}<span class="unseen"> wait</span></span>` : nothing}</a>
      ${this.failure ? html`<p class="failure">${this.failure.message}</p>` : nothing}
      ${this.loaded && !list.length && !this.failure ? html`<p class="quiet">No conversations yet.</p>` : nothing}
      <ul>${repeat(list, (c) => c.id, (c) => html`<li><a href=${"#/c/" + c.id} aria-current=${address.startsWith("#/c/" + c.id) ? "page" : nothing} @click=${() => this.toggle(false)}>
        <span class="title">${reveal(c.title || "Without a message")}</span>
        <span class="quiet">${c.short_id ? c.short_id + " · " : ""}${time(c.updated_at)}${statusWord(c.status) ? html` <span class=${"pill " + c.status}>${statusWord(c.status)}</span>` : nothing}</span></a></li>`)}</ul>
      ${this.next ? html`<button type="button" class="plain" @click=${() => this.more()}>Show more</button>` : nothing}
      ${me}
      ${about ? html`<details class="about"><summary>About this agent</summary>
        <ul>${links(about).map(([href, label]) => html`<li><a href=${href}>${label}</a></li>`)}</ul>
        ${about.version ? html`<p class="quiet">Agent Stop and Go ${about.version}</p>` : nothing}</details>` : nothing}
    </nav>`;
  }
}

const labels = {
  docs: "API, to read and to try", openapi: "OpenAPI file", approvals: "Open approvals, as JSON", conversations: "Conversations, as JSON", tools: "Tools, as JSON",
  ag_ui: "AG-UI endpoint", a2a_card: "A2A card", health: "Health", temporal_workflows: "", temporal_ui: "Temporal Web UI",
};

const links = ({ links }) => Object.entries(links).map(([key, href]) => [api.address(href), labels[key] ?? key]).filter(([href, label]) => label && /^https?:/.test(href));
