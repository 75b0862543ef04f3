// The inbox: everything that waits for the reader, oldest first, to be worked off by keyboard.
import { html, nothing, repeat } from "./html.js";
import { argumentLine } from "./arguments.js";
import { Card } from "./card.js";
import { allowNotices, allowsNotices, canNotify } from "./notices.js";
import { reveal } from "./reveal.js";
import { SecondLook } from "./secondlook.js";
import { ago, time } from "./time.js";
import { count, isPutOff } from "./waiting.js";
import * as words from "./words.js";

const step = 100; // how many rows are shown at first, and with each click
const settling = 350; // milliseconds that a card must have been in sight before one key decides it

// alike is what approvals have in common that are grouped.
const alike = (a) => [a.reason, a.tool_name, a.server, words.asker(a)].join("\n");

export class Inbox {
  title = "Inbox"; focus = ".inbox h2";
  filter = ""; grouped = true; withPutOff = false; shown = step; said = ""; look;
  #cards = new Map(); #chosen = new Set();
  #at = ""; // the UUID of the open row
  #openedAt = 0;
  #last; // the open row, which stays in sight when somebody else decides it

  constructor(page) {
    Object.assign(this, { page, store: page.waiting });
    this.store.watch(this);
  }

  close() { this.store.watch(); }
  wake() { this.store.refresh(true); }
  get waits() { return count(this.store); }

  card(uuid) {
    if (!this.#cards.has(uuid)) {
      this.#cards.set(uuid, new Card(uuid, this.page, { settled: (c) => this.#settled(c), later: (c) => this.#later(c) }));
    }
    return this.#cards.get(uuid);
  }

  // rows are what is shown, in order: groups by their oldest member.
  rows() {
    const wanted = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (a) => {
      const text = [words.title(a), words.asker(a), words.forWhom(a), a.server, a.conversation_id, a.uuid, words.risk(a)[1], a.tool_args_preview, JSON.stringify(a.tool_args)].join(" ").toLowerCase();
      return wanted.every((w) => text.includes(w));
    };
    const items = this.store.items.filter((a) => (this.withPutOff || !isPutOff(a)) && (!wanted.length || fits(a)));
    if (this.#isGone()) items.unshift(this.#last);
    if (!this.grouped) return [["", items]];
    const groups = new Map();
    for (const a of items) {
      const key = alike(a);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(a);
    }
    return [...groups];
  }

  // isGone tells that somebody else has decided the open row.
  #isGone() { return this.#last && this.#last.uuid === this.#at && !this.#cards.get(this.#at)?.own && !this.store.items.some((a) => a.uuid === this.#at); }

  // refreshed has what became of the open row read.
  refreshed() {
    const card = this.#isGone() && this.#cards.get(this.#at);
    if (card && !card.decision && !card.sending) card.check();
  }

  #list() { return this.rows().flatMap(([, items]) => items); }

  open(uuid, focus = true) {
    this.#at = this.#at === uuid && !focus ? "" : uuid;
    this.#last = this.store.items.find((a) => a.uuid === uuid);
    this.#openedAt = 0;
    if (this.#at) this.card(uuid).load().then(() => { this.#openedAt = Date.now(); });
    const n = this.#list().findIndex((a) => a.uuid === uuid);
    if (n >= this.shown) this.shown = n + step;
    this.page.changed();
    if (focus) requestAnimationFrame(() => {
      const row = document.getElementById("row-" + uuid);
      row?.querySelector(".row")?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: "nearest" });
    });
  }

  // move opens the row that is n behind the open one.
  move(n) {
    const list = this.#list();
    const at = list.findIndex((a) => a.uuid === this.#at);
    const next = list[at < 0 ? (n > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + n))];
    if (next) this.open(next.uuid);
  }

  // follow opens what comes after a row that is about to leave.
  #follow(uuid) {
    const list = this.#list();
    const at = list.findIndex((a) => a.uuid === uuid);
    return list[at + 1] ?? list[at - 1];
  }

  #settled(card) {
    this.#chosen.delete(card.uuid);
    if (!card.own && !this.look) return this.page.changed(); // decided elsewhere: it stays until the reader goes on
    const next = this.#at === card.uuid && this.#follow(card.uuid);
    this.said = `${words.verdict(card.decision, card.approval)}: ${words.subject(card.approval)}`;
    this.store.remove(card.uuid);
    this.#cards.delete(card.uuid);
    if (next && !this.look) this.open(next.uuid);
    else if (this.#at === card.uuid) this.#at = "";
  }

  #later(card) {
    const next = card.deferredUntil && !this.withPutOff && this.#follow(card.uuid);
    this.store.putOff(card.uuid, card.deferredUntil);
    this.said = card.deferredUntil ? `Put off: ${words.subject(card.approval)} comes back ${ago(card.deferredUntil)}` : "It is back";
    if (next) this.open(next.uuid);
  }

  // key acts for a key that was not typed into a field.
  key(e) {
    if (this.look) return this.look.key(e);
    const card = this.#at && this.#cards.get(this.#at);
    const form = card && document.querySelector(`#approval-${card.uuid} form`);
    switch (e.key) {
      case "j": return this.move(1);
      case "k": return this.move(-1);
      case "x": return this.#at ? this.choose(this.#at) : undefined;
      case "/": return document.querySelector("#filter").focus();
      case "a": return this.#chosen.size ? this.lookAgain(true) : form && this.#approve(card, form, e.repeat);
      case "r": return this.#chosen.size ? this.lookAgain(false) : form && this.#reject(card, form);
      case "e": return this.#everything();
      case "n":
        if (form) {
          card.chooseLater(true);
          requestAnimationFrame(() => form.querySelector(".times button")?.focus());
        }
        return;
      case "Escape": return this.#at ? this.open(this.#at, false) : undefined;
      default: return false;
    }
  }

  // approve approves what the reader has in sight. What takes more than a yes gets the focus.
  #approve(card, form, repeated) {
    if (words.needsContent(card.approval) || words.isDoubtful(card.approval)) return form.querySelector("input, select, textarea, button").focus();
    if (repeated || !this.#openedAt || Date.now() - this.#openedAt < settling) return this.page.announce("Look at it first, then press a.");
    const yes = form.querySelector("button.primary");
    yes ? yes.click() : this.page.announce("Nobody can approve this now.");
  }

  // reject asks for the reason. In its field Enter rejects, because it was asked for by r.
  #reject(card, form) {
    const field = form.elements.reason;
    card.rejecting = true;
    this.page.changed();
    field.focus();
    field.onblur = () => {
      field.onkeydown = field.onblur = null;
      card.rejecting = false;
      this.page.changed();
    };
    field.onkeydown = (e) => {
      if (e.key !== "Enter" && e.key !== "Escape") return;
      e.preventDefault();
      field.onblur();
      if (e.key === "Enter") card.decide("no", { approved: false, ...(field.value.trim() ? { reason: field.value.trim() } : {}) });
      else this.open(card.uuid);
    };
  }

  // everything opens all that is folded in the open card, or closes it.
  #everything() {
    const folds = [...document.querySelectorAll(`#row-${this.#at} details`)];
    const all = folds.every((d) => d.open);
    for (const d of folds) d.open = !all;
  }

  choose(...uuids) {
    const all = uuids.every((u) => this.#chosen.has(u));
    for (const u of uuids) all ? this.#chosen.delete(u) : this.#chosen.add(u);
    this.page.changed();
  }

  // lookAgain shows all that was selected before any of it is decided.
  lookAgain(yes) {
    const uuids = this.store.items.map((a) => a.uuid).filter((u) => this.#chosen.has(u));
    this.look = new SecondLook(this.page, yes, uuids.map((u) => this.card(u)), (said) => {
      this.look = undefined;
      if (said) {
        this.said = said;
        this.#chosen.clear();
      }
      this.page.changed();
      requestAnimationFrame(() => document.querySelector(".inbox h2")?.focus());
    });
    this.page.changed();
    requestAnimationFrame(() => document.querySelector(".look h2")?.focus());
  }

  view() {
    if (this.look) return this.look.view();
    const groups = this.rows(), all = groups.reduce((n, [, items]) => n + items.length, 0), putOff = this.store.items.filter(isPutOff).length;
    let left = this.shown;
    const visible = groups.map(([key, items]) => { const some = items.slice(0, left); left -= some.length; return [key, some, items]; }).filter(([, some]) => some.length);
    return html`<section class="inbox">
      <h2 tabindex="-1">Inbox <span class="count">${all}<span class="unseen"> wait</span></span></h2>
      <div class="bar">
        <label class="unseen" for="filter">Filter by tool, agent or argument</label>
        <input id="filter" type="search" placeholder="Filter by tool, agent or argument" autocomplete="off" .value=${this.filter}
          @input=${(e) => { this.filter = e.target.value; this.shown = step; this.page.changed(); }} @keydown=${(e) => { if (e.key === "Escape" || e.key === "Enter") e.target.blur(); }}>
        ${this.#switch("Group alike", this.grouped, () => { this.grouped = !this.grouped; })}
        ${putOff ? this.#switch(`Put off (${putOff})`, this.withPutOff, () => { this.withPutOff = !this.withPutOff; }) : nothing}
        ${canNotify() ? this.#switch("Notify me", allowsNotices(), async () => { await allowNotices(!allowsNotices()); this.page.changed(); }) : nothing}
      </div>
      <p class="keys quiet"><span>${[["j", "next"], ["k", "back"], ["a", "approve"], ["r", "reject"], ["e", "everything"], ["n", "not now"], ["x", "select"], ["/", "filter"]].map(([k, what]) => html`<kbd>${k}</kbd> ${what} `)}</span></p>
      ${this.store.failure ? html`<p class="failure" role="alert">${this.store.failure.message}</p>` : nothing}
      <p class="said" role="status">${reveal(this.said)}</p>
      ${this.#chosen.size ? html`<div class="bar chosen"><strong>${this.#chosen.size} selected</strong>
        <button type="button" class="primary small" @click=${() => this.lookAgain(true)}>Approve…</button>
        <button type="button" class="plain small" @click=${() => this.lookAgain(false)}>Reject…</button>
        <button type="button" class="plain small" @click=${() => { this.#chosen.clear(); this.page.changed(); }}>Select none</button></div>` : nothing}
      ${all ? nothing : html`<div class="empty"><p><strong>${this.store.loaded ? this.filter ? "Nothing fits the filter." : "Nothing waits for you." : "Reading what waits…"}</strong></p>
        ${this.store.loaded && !this.filter ? html`<p class="quiet">When an agent wants to do something that you have to agree to, it appears here.</p>` : nothing}</div>`}
      ${repeat(visible, ([key]) => key, ([key, some, items]) => html`
        ${key && items.length > 1 ? html`<div class="group"><h3>${reveal(words.title(items[0]))} <span class="count">${items.length}</span></h3>
          <span class="quiet">${reveal(words.asker(items[0]))}${items[0].server ? html`, on ${reveal(items[0].server)}` : nothing}</span>
          <button type="button" class="plain small" @click=${() => this.choose(...items.map((a) => a.uuid))}>Select all ${items.length}<span class="unseen"> of ${words.title(items[0])}</span></button></div>` : nothing}
        <ul class="rows">${repeat(some, (a) => a.uuid, (a) => this.#row(a, Boolean(key) && items.length > 1))}</ul>`)}
      ${all > this.shown ? html`<button type="button" class="plain earlier" @click=${() => { this.shown += step; this.page.changed(); }}>Show ${Math.min(step, all - this.shown)} more of ${all - this.shown}</button>` : nothing}
    </section>`;
  }

  #switch(label, on, toggle) {
    return html`<button type="button" class="plain small switch" aria-pressed=${on ? "true" : "false"} @click=${() => { toggle(); this.page.changed(); }}>${label}</button>`;
  }

  // row leaves out what the heading of its group says.
  #row(a, inGroup) {
    const isOpen = a.uuid === this.#at, [level, word] = words.risk(a);
    return html`<li id=${"row-" + a.uuid} class=${(isOpen ? "open" : "") + (inGroup ? " short" : "")}>
      <div class="head"><input type="checkbox" aria-label=${"Select: " + words.title(a)} .checked=${this.#chosen.has(a.uuid)} @change=${() => this.choose(a.uuid)}>
        <button type="button" class="row" aria-expanded=${isOpen ? "true" : "false"} @click=${() => this.open(a.uuid, !isOpen)}>
          <span class=${inGroup ? "unseen" : "title"}>${reveal(words.title(a))}</span> <span class="line">${argumentLine(a)}</span>
          <span class="marks"><span class=${"risk " + level}>${word}</span> ${isPutOff(a) ? html`<span class="pill">put off</span>` : nothing}
            <span class="quiet">${time(a.created_at)}${a.expires_at ? html` · expires ${time(a.expires_at)}` : nothing}${reveal(words.forWhom(a))}</span></span>
          ${inGroup ? nothing : html`<span class="quiet from">${reveal(words.asker(a))}</span>`}</button></div>
      ${isOpen ? this.card(a.uuid).view() : nothing}</li>`;
  }
}
