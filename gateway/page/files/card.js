// An approval: what waits, or what was decided.
import { html, nothing } from "./html.js";
import * as api from "./api.js";
import { argumentTable, textBlock } from "./arguments.js";
import { changes, comparison } from "./changes.js";
import { keepName, ownName } from "./drafts.js";
import { differences, Edit } from "./edit.js";
import { Members, print } from "./exact.js";
import { contentOf, fields } from "./form.js";
import { markdown } from "./markdown.js";
import { reveal } from "./reveal.js";
import { fullTime, time } from "./time.js";
import * as words from "./words.js";

let me; // who the reader is, if that had to be proven; asked once
const whoAmI = () => me ??= api.me().catch(() => ({}));

// Card is one approval of a page. settled is called when it is decided, and later when it was put off.
export class Card {
  approval; decision; me; failure; problem = ""; sending = ""; own = false; wasOpen = false; deferredUntil; edit; choosing = false; rejecting = false;
  #keys = new Map(); // Idempotency-Keys by what is sent
  #loading;

  constructor(uuid, page, { settled = () => {}, later = () => {}, unfolded = false } = {}) {
    const { changed, announce, agent } = page;
    Object.assign(this, { uuid, page, changed, announce, agent, settled, later, unfolded });
  }

  // load reads the approval. It may be called at any time.
  load() {
    return this.#loading ??= this.#load().catch((e) => { this.failure = e; this.#loading = undefined; }).then(this.changed);
  }

  // check reads it again.
  check() {
    this.#loading = undefined;
    return this.load();
  }

  async #load() {
    const state = await api.approval(this.uuid);
    this.failure = undefined;
    this.approval = state.approval;
    this.problem = state.problem ?? "";
    this.deferredUntil = state.deferred_until;
    this.me = await whoAmI();
    if (state.decision) return this.settle(state.decision, true);
    this.wasOpen = true;
  }

  // settle takes the decision that counts: the whole record of it, or what an event has.
  settle(decision, whole) {
    const first = !this.decision;
    this.decision = { ...this.decision, ...decision };
    if (first && this.sending) this.own = true; // its event may be faster than its reply
    this.sending = "";
    if (first && this.wasOpen) {
      const said = words.verdict(this.decision, this.approval);
      this.announce(this.#elsewhere ? `Decided elsewhere. ${said}${this.#unused ? ". " + this.#unused : ""}` : said);
    }
    if (!whole && this.approval?.edit) this.check(); // for what was changed
    if (first) this.settled(this);
    this.changed();
  }

  // elsewhere tells that somebody else decided while this card was open.
  get #elsewhere() { return this.wasOpen && !this.own && ["approved", "rejected"].includes(this.decision.decision); }

  // unused says that what was typed here had no effect.
  get #unused() { return this.#elsewhere && this.edit?.changes.length ? "Your changes have no effect." : ""; }

  async decide(name, decision) {
    if (this.sending || this.decision) return;
    this.sending = name;
    this.failure = undefined;
    this.changed();
    const by = this.me?.authenticated ? "" : ownName();
    const body = by ? { ...decision, by } : decision;
    const text = print(body);
    if (!this.#keys.has(text)) this.#keys.set(text, api.randomID());
    try {
      const send = name === "yes" && words.needsLogin(this.approval) ? api.loggedIn(this.uuid, this.#keys.get(text)) : api.decide(this.uuid, body, this.#keys.get(text));
      const { decision, problem } = await send;
      this.own = true;
      if (decision) this.settle(decision);
      else if (problem) { // it may be sent again: it counts once
        this.sending = "";
        this.failure = new Error(problem);
      } else await this.#arrival();
    } catch (e) {
      this.sending = "";
      this.own = false;
      if (e.status === 409 && e.body.decision) return this.settle(e.body.decision);
      this.failure = decision.edit && /^edit: /.test(e.body?.error) ? this.#refused(e.body.error) : e;
    }
    this.changed();
  }

  // refused returns what the agent says of the changes beside what is shown at their fields.
  #refused(error) {
    const rest = this.edit?.refuse(error);
    this.changed();
    requestAnimationFrame(() => document.querySelector(`#approval-${this.uuid} [aria-invalid=true]`)?.focus());
    return new Error(`These changes are not taken, and nothing is decided. ${rest ? `The agent says: ${rest}` : "See what is wrong at the fields."}`);
  }

  // change opens the form for arguments that may be changed, or closes it and forgets what was typed.
  change() {
    const { tool_name: name, server } = this.approval;
    this.edit = this.edit ? undefined : new Edit(this.approval, this.page.offer?.tools.find((t) => t.name === name && t.server === server)?.inputSchema);
    this.failure = undefined;
    this.changed();
    requestAnimationFrame(() => document.querySelector(`#approval-${this.uuid} .edit :is(input, select, textarea)`)?.focus());
  }

  // arrival waits until a decision that was accepted counts.
  async #arrival() {
    for (let wait = 100; !this.decision; wait *= 2) {
      if (wait > 30_000) throw new Error("The answer is recorded, and nothing has come of it yet. Look again in a moment.");
      await api.pause(wait);
      const state = await api.approval(this.uuid);
      if (state.decision && !this.decision) this.settle(state.decision, true);
    }
  }

  // putOff says not now: {for} or {until}.
  async putOff(when) {
    this.failure = undefined;
    this.sending = "later";
    this.changed();
    try {
      this.deferredUntil = (await api.later(this.uuid, when)).deferred_until;
      this.choosing = false;
      this.announce(this.deferredUntil ? "Put off. It still waits." : "It is back.");
      this.later(this);
    } catch (e) {
      this.failure = e;
    }
    this.sending = "";
    this.changed();
  }

  view() {
    if (this.decision) return this.#decided();
    return html`<article class="card waiting" id=${"approval-" + this.uuid} aria-labelledby=${"title-" + this.uuid} aria-busy=${this.sending ? "true" : "false"}>
      ${this.approval ? this.#waiting() : this.#unread()}</article>`;
  }

  #unread() {
    return html`<h3 id=${"title-" + this.uuid}>An approval waits</h3>
      ${this.failure ? html`<p class="failure">${this.failure.message}</p><button type="button" class="plain" @click=${() => this.load()}>Try again</button>`
        : html`<p class="quiet">Reading what it is about…</p>`}`;
  }

  #waiting() {
    const p = this.approval;
    return html`<header><span class="pill">Waits for you</span><h3 id=${"title-" + this.uuid} tabindex="-1">${reveal(words.title(p))}</h3></header>
      ${this.#subject()} ${this.#effects()}
      ${this.problem ? html`<p class="failure">The last answer was not taken: ${reveal(this.problem)}</p>` : nothing}
      ${this.failure ? html`<p class="failure" role="alert">${reveal(this.failure.message)}</p>` : nothing}
      ${this.deferredUntil ? html`<p class="notice">You have put this off until ${fullTime(this.deferredUntil)}. It still waits.
        <button type="button" class="plain small" @click=${() => this.putOff({ for: "0s" })}>Have it back</button></p>` : nothing}
      ${this.#answer()}`;
  }

  #decided() {
    const d = this.decision, p = this.approval;
    const mark = d.decision === "approved" ? "approved" : d.decision === "rejected" ? "rejected" : "over";
    return html`<details class=${"card decided " + mark} id=${"approval-" + this.uuid} ?open=${this.unfolded} @toggle=${() => this.load()}>
      <summary><span class="mark" aria-hidden="true">${{ approved: "✓", rejected: "✕", over: "–" }[mark]}</span>
        <span><h3>${reveal(words.verdict(d, p))}</h3> <code>${reveal(p ? words.subject(p) : d.tool)}</code>
        ${this.#elsewhere ? html`<span class="elsewhere">decided elsewhere</span> ${this.#unused}` : nothing}
        <span class="quiet">${time(d.decided_at)}</span>
        ${d.reason ? html`<span class="reason">Reason: ${reveal(d.reason)}</span>` : nothing}</span></summary>
      ${p ? this.#subject() : html`<p class="quiet">${this.failure?.message ?? "Reading what was shown…"}</p>`}</details>`;
  }

  // subject shows what it is about, the same before and after the decision.
  #subject() {
    const p = this.approval, { server, expires_at: expires } = p;
    const chain = p.chain ?? [p.agent_name ?? this.agent()];
    const args = p.origin?.exact ?? p.exact, revision = this.decision?.revision, isChanged = revision?.exact && revision.changes.length;
    const row = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
    return html`<dl class="facts">
        ${p.reason === "limit" ? nothing : row("Call", html`<code>${reveal(words.subject(p))}</code>`)}
        ${server && !p.origin ? row("On", html`${reveal(server)}`) : nothing}
        ${p.binding?.address ? row("Address", html`<code>${reveal(p.binding.address)}</code>`) : nothing}
        ${p.granted ? row("Before", html`<code>${reveal(p.granted.address)}</code>${p.granted.address === p.binding?.address ? " (the tool itself has changed)" : nothing}`) : nothing}
        ${row("Asked by", html`${chain.map((agent, n) => html`${n ? html` <span aria-label="through">›</span> ` : nothing}${reveal(agent)}`)}${p.node ? html`, node ${reveal(p.node)}` : nothing}`)}
        ${p.requester ? row("For", html`${reveal(p.requester.subject)} <span class="quiet">${reveal(p.requester.issuer)}</span>`) : nothing}
        ${row("Why", words.why(p))}
        ${p.approvers ? row("May decide", reveal(words.approvers(p))) : nothing}
        ${row("Since", time(p.created_at))}
        ${expires ? row("Expires", html`${time(expires)}, ${fullTime(expires)}`) : nothing}
      </dl>
      ${isChanged ? html`<section class="what"><h4>Changed by ${reveal(words.decider(this.decision) || "somebody who gave no name")}</h4>${comparison(differences(p.exact, revision.exact, revision.changes.map((c) => c.name)))}</section>` : nothing}
      ${changes(args, words.subject(p))}
      <section class="what"><h4>${isChanged ? "Arguments that were asked for" : "Arguments"}</h4>${argumentTable(args)}
        ${p.origin?.exact ? html`<h4>What this agent delegated</h4>${argumentTable(p.exact)}` : nothing}</section>
      ${p.description ? html`<section class="what"><h4>${p.reason === "question" ? "The question" : "In words"}</h4>${markdown(p.description)}
        ${p.explanation ? html`<h4>All that was said</h4>${textBlock(p.explanation, "the explanation")}` : nothing}</section>` : nothing}
      <details class="more"><summary>Identifiers</summary><dl class="facts">${row("Approval", html`<a href=${"#/a/" + p.uuid}><code>${p.uuid}</code></a>, an address to send to a colleague`)}
        ${row("Conversation", html`<a href=${"#/c/" + p.conversation_id}><code>${p.conversation_id}</code></a>`)}
        ${p.tool_args_sha256 ? row("Arguments", html`<code>sha256 ${p.tool_args_sha256}</code>`) : nothing}
        ${isChanged ? row("As approved", html`<code>sha256 ${revision.arguments_sha256}</code>`) : nothing}
        ${p.binding?.definition_sha256 ? row("Tool", html`<code>sha256 ${p.binding.definition_sha256}</code>`) : nothing}</dl></details>`;
  }

  #effects() {
    const p = this.approval, e = words.effects(p), b = words.buttons(p);
    const expires = p.expires_at;
    return html`<dl class="effects">
      ${e.ran ? html`<div><dt>${b.ran}</dt><dd>${e.ran}</dd></div>` : nothing}
      ${b.yes ? html`<div><dt>${b.yes}</dt><dd>${this.edit?.changes.length ? "The call runs once, with what you changed, if the rules allow it." : e.yes}</dd></div>` : nothing}
      <div><dt>${b.no}</dt><dd>${e.no}</dd></div>
      <div><dt>Nobody answers</dt><dd>${e.silence} ${expires ? html`At ${fullTime(expires)} it expires, which counts as a no.`
        : "It waits until somebody decides, or stops the turn."}</dd></div></dl>`;
  }

  #answer() {
    const p = this.approval, b = words.buttons(p), id = this.uuid, doubt = words.isDoubtful(p);
    const reason = (form) => form.elements.reason.value.trim() ? { reason: form.elements.reason.value.trim() } : {};
    // No button submits the form: the Enter key in the reason of a no must not say yes.
    const button = (name, label, style, send) => html`<button type="button" class=${style} ?disabled=${Boolean(this.sending)}
      @click=${(e) => send(e.target.form)}>${this.sending === name ? "Sending…" : label}</button>`;
    const yes = (form) => {
      this.edit?.read(form);
      if (!form.reportValidity()) return;
      const content = words.needsContent(p) ? { content: contentOf(p.schema, form) } : { approved: true };
      const edit = this.edit?.changes.length ? { edit: new Members(this.edit.changes.map(([argument, , after]) => [argument, after])) } : {};
      this.decide("yes", { ...content, ...edit, ...reason(form) });
    };
    const ran = (form) => {
      const result = form.elements.result.value;
      this.decide("ran", { content: result ? { outcome: "ran", result } : { outcome: "ran" }, ...reason(form) });
    };
    return html`<form @submit=${(e) => e.preventDefault()}>
      ${words.needsContent(p) ? fields(p.schema, id) : nothing}
      ${this.edit?.view(id, this.changed) ?? nothing}
      ${doubt ? html`<div class="field"><label for=${"result-" + id}>If it did run: its result <span class="quiet">optional</span></label>
        <textarea id=${"result-" + id} name="result" rows="2"></textarea></div>` : nothing}
      <div class="pair">
        <div class="field"><label for=${"reason-" + id}>Reason <span class="quiet">${this.rejecting ? "Enter rejects, Escape goes back" : "optional, recorded with the decision"}</span></label>
          <input id=${"reason-" + id} name="reason" maxlength="2000" autocomplete="off"></div>
        ${this.me?.authenticated ? html`<p class="quiet">Recorded as ${reveal(this.me.subject)}</p>` : html`<div class="field"><label for=${"name-" + id}>Your name <span class="quiet">optional</span></label>
          <input id=${"name-" + id} name="by" maxlength="200" autocomplete="name" .value=${ownName()} @change=${(e) => keepName(e.target.value)}></div>`}
      </div>
      <div class="buttons">
        ${/^https?:/.test(p.login?.url) ? html`<a class="primary" href=${p.login.url} rel="noreferrer">Log in to ${reveal(words.loginTo(p))}</a>` : nothing}
        ${doubt ? button("ran", b.ran, "primary", ran) : nothing}
        ${b.yes ? button("yes", this.edit?.changes.length ? "Approve with changes" : b.yes, doubt ? "danger" : p.login ? "plain" : "primary", yes) : nothing}
        ${button("no", b.no, "plain", (form) => this.decide("no", { approved: false, ...reason(form) }))}
        ${p.edit?.length || this.edit ? html`<button type="button" class="plain" aria-expanded=${this.edit ? "true" : "false"} ?disabled=${Boolean(this.sending)}
          @click=${() => this.change()}>${this.edit ? "Undo the changes" : "Change…"}</button>` : nothing}
        <button type="button" class="plain later" aria-expanded=${this.choosing ? "true" : "false"} ?disabled=${Boolean(this.sending)}
          @click=${() => this.chooseLater(!this.choosing)}>Not now</button>
      </div>
      ${this.choosing ? html`<div class="buttons times" role="group" aria-label="Not now, but"><span class="quiet">Not a no: it still waits, for everybody, and expires when it would.</span>
        ${times().map(([label, when]) => html`<button type="button" class="plain small" @click=${() => this.putOff(when)}>${label}</button>`)}</div>` : nothing}
      </form>`;
  }

  chooseLater(open) {
    this.choosing = open;
    this.changed();
  }
}

// times are those until which one puts something off.
function times() {
  const tomorrow = new Date();
  tomorrow.setDate(tomorrow.getDate() + 1);
  tomorrow.setHours(9, 0, 0, 0);
  return [["In 2 hours", { for: "2h" }], ["In 30 minutes", { for: "30m" }], ["Tomorrow at 9", { until: tomorrow.toISOString() }], ["In a week", { for: "168h" }]];
}
