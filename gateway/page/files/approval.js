// One approval at an address of its own, to send to a colleague.
import { html } from "./html.js";
import { Card } from "./card.js";
import * as words from "./words.js";

export class Approval {
  focus = ".single h2";

  constructor(page, uuid) {
    this.card = new Card(uuid, page, { unfolded: true });
    this.card.load();
    this.timer = setInterval(() => { if (!document.hidden && !this.card.decision && !this.card.sending) this.card.check(); }, 5_000);
  }

  close() { clearInterval(this.timer); }
  get title() { return this.card.approval ? words.title(this.card.approval) : "Approval"; }
  get waits() { return this.card.approval && !this.card.decision ? 1 : 0; }

  view() {
    const { approval, failure } = this.card;
    const body = failure && !approval ? html`<p class="failure" role="alert">${failure.status === 404 ? "This approval does not exist, or it is not for you to see. If a colleague sent you this address, ask them who may decide." : failure.message}</p>`
      : this.card.view();
    return html`<section class="inbox single"><h2 tabindex="-1">Approval</h2>
      <p class="quiet"><a href="#/inbox">Inbox</a>${approval ? html` · <a href=${"#/c/" + approval.conversation_id}>The conversation</a>` : ""}</p>${body}</section>`;
  }
}
