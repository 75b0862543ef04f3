// The list of conversations, and what there is besides.
import { html, nothing, repeat } from "./html.js";
import * as api from "./api.js";
import { reveal } from "./reveal.js";
import { session } from "./session.js";
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

  titleOf(id) { return id && this.items.find((c) => c.id === id)?.title; }

  // search shows what is found for the words, from the beginning or more of it.
  async search(words, cursor = "") {
    const before = cursor ? this.found : { list: [], searched: 0, texts: 0 };
    this.found = words ? { ...before, words, busy: true } : undefined;
    this.changed();
    if (!words) return;
    try {
      const { conversations, next_cursor: next, search } = await api.conversations(cursor, words);
      if (this.found?.words !== words) return; // something else is searched
      this.found = { words, next, list: [...before.list, ...conversations], searched: before.searched + search.searched, texts: before.texts + search.texts };
    } catch (e) {
      if (this.found?.words === words) this.found = { ...before, words, failure: e };
    }
    this.changed();
  }

  #typed(e) {
    clearTimeout(this.typing);
    const words = e.target.value.trim();
    this.typing = setTimeout(() => this.search(words), words ? 250 : 0);
  }

  // rename shows a new title at once: the list lags.
  rename(id, title) {
    for (const c of [...this.items, ...this.#more]) if (c.id === id) c.title = title;
    this.page.paused();
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
      ${this.found || list.length > 5 ? html`<label class="unseen" for="search">Search conversations</label>
        <input id="search" type="search" maxlength="200" placeholder="Search" autocomplete="off" @input=${(e) => this.#typed(e)}>` : nothing}
      ${this.found ? this.#results(address) : this.#newest(list, address)}
      ${me}
      ${about ? html`<details class="about"><summary>About this agent</summary>
        <ul>${links(about).map(([href, label]) => html`<li><a href=${href}>${label}</a></li>`)}</ul>
        ${about.version ? html`<p class="quiet">Agent Stop and Go ${about.version}</p>` : nothing}</details>` : nothing}
    </nav>`;
  }

  #newest(list, address) {
    return html`${this.failure && !session.needed ? html`<p class="failure">${this.failure.message}</p>` : nothing}
      ${this.loaded && !list.length && !this.failure ? html`<p class="quiet">No conversations yet.</p>` : nothing}
      ${this.#list(list, address)}
      ${this.next ? html`<button type="button" class="plain" @click=${() => this.more()}>Show more</button>` : nothing}`;
  }

  #results(address) {
    const { words, list, searched, texts, next, busy, failure } = this.found;
    const shown = list.filter((c) => !this.#removed.has(c.id));
    return html`<p class="quiet" role="status">${busy ? "Searching…" : failure ? "" : `${shown.length} found in ${searched} titles and ${texts} texts${next ? ", so far" : ""}`}</p>
      ${failure ? html`<p class="failure">${failure.message}</p>` : nothing}
      ${this.#list(shown, address)}
      ${next && !busy ? html`<button type="button" class="plain" @click=${() => this.search(words, next)}>Search on</button>` : nothing}`;
  }

  #list(list, address) {
    return html`<ul>${repeat(list, (c) => c.id, (c) => html`<li><a href=${"#/c/" + c.id} aria-current=${address.startsWith("#/c/" + c.id) ? "page" : nothing} @click=${() => this.toggle(false)}>
        <span class="title">${reveal(c.title || "Without a message")}</span>
        <span class="quiet">${c.short_id ? c.short_id + " · " : ""}${time(c.updated_at)}${statusWord(c.status) ? html` <span class=${"pill " + c.status}>${statusWord(c.status)}</span>` : nothing}</span>
        ${c.excerpt ? html`<span class="excerpt">${reveal(c.excerpt)}</span>` : nothing}</a></li>`)}</ul>`;
  }
}

const labels = {
  docs: "API, to read and to try", openapi: "OpenAPI file", approvals: "Open approvals, as JSON", conversations: "Conversations, as JSON", tools: "Tools, as JSON",
  ag_ui: "AG-UI endpoint", a2a_card: "A2A card", health: "Health", temporal_workflows: "", temporal_ui: "Temporal Web UI",
};

const links = ({ links }) => Object.entries(links).map(([key, href]) => [api.address(href), labels[key] ?? key]).filter(([href, label]) => label && /^https?:/.test(href));
