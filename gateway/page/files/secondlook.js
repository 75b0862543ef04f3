// A second look at several approvals before they are decided at once.
import { html, nothing, repeat } from "./html.js";
import { argumentTable } from "./arguments.js";
import { changes } from "./changes.js";
import { reveal } from "./reveal.js";
import * as words from "./words.js";

const together = 4; // decisions that are sent at a time

// SecondLook shows cards in full. done is called with what was done, or nothing.
export class SecondLook {
  sent = 0; sending = false;

  constructor(page, yes, cards, done) {
    Object.assign(this, { page, yes, cards, done });
    for (const c of cards) c.load();
  }

  // fit are those for which a yes or no is enough, and of which all is shown here.
  get fit() { return this.cards.filter((c) => c.approval && !c.decision && !words.isDoubtful(c.approval) && !(this.yes && (words.needsContent(c.approval) || words.isPaused(c.approval) || c.approval.reason === "changed" || c.edit?.changes.length))); }
  get ready() { return this.cards.every((c) => c.approval || c.failure); }

  key(e) { return e.key === "Escape" && !this.sending ? this.done() : false; }

  async decide() {
    const queue = this.fit, all = queue.length, reason = document.querySelector("#look-reason")?.value.trim();
    this.sending = true;
    this.page.changed();
    const work = async () => {
      for (let c; (c = queue.shift());) {
        await c.decide(this.yes ? "yes" : "no", { approved: this.yes, ...(reason ? { reason } : {}) });
        this.sent++;
      }
    };
    await Promise.all(Array.from({ length: together }, work));
    const failed = this.cards.filter((c) => c.failure).length;
    this.done(`${all - failed} ${this.yes ? "approved" : "rejected"}` + (failed ? `, ${failed} failed and still wait` : "") +
      (this.cards.length > all ? `, ${this.cards.length - all} left to be looked at one by one` : ""));
  }

  view() {
    const { fit } = this, left = this.cards.length - fit.length, verb = this.yes ? "Approve" : "Reject";
    return html`<section class="inbox look"><h2 tabindex="-1">${verb} ${fit.length === 1 ? "this call" : `these ${fit.length} calls`}?</h2>
      <p class="quiet">${this.yes ? "Each runs once, with exactly these arguments." : "None of them runs."} ${this.ready && left ? `${left} of those that you selected have to be looked at one by one, and are left out.` : nothing}</p>
      <ol class="looks">${repeat(fit, (c) => c.uuid, (c) => html`<li><h3>${reveal(words.title(c.approval))}</h3>
        <p class="quiet">${reveal(words.asker(c.approval))}${reveal(words.forWhom(c.approval))}${c.approval.server ? html`, on ${reveal(c.approval.server)}` : nothing}${c.approval.binding?.address ? html`, <code>${reveal(c.approval.binding.address)}</code>` : nothing}</p>
        ${changes(c.approval.origin?.exact ?? c.approval.exact, words.subject(c.approval))}${argumentTable(c.approval.origin?.exact ?? c.approval.exact)}</li>`)}</ol>
      ${this.ready ? nothing : html`<p class="status">Reading…</p>`}
      <form class="bar" @submit=${(e) => e.preventDefault()}>
        <div class="field"><label for="look-reason">Reason for all <span class="quiet">optional</span></label><input id="look-reason" maxlength="2000" autocomplete="off"></div>
        <button type="button" class=${this.yes ? "primary" : "danger"} ?disabled=${!this.ready || this.sending || !fit.length} @click=${() => this.decide()}>${this.sending ? `Sending ${this.sent}…` : `${verb} ${fit.length}`}</button>
        <button type="button" class="plain" ?disabled=${this.sending} @click=${() => this.done()}>Back</button></form></section>`;
  }
}
