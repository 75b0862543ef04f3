// What one does with a conversation as a whole.
import { html, nothing } from "./html.js";
import * as api from "./api.js";
import { reveal } from "./reveal.js";

// Whole is the head of an open conversation: its title, and what one can do with it.
export class Whole {
  #open = ""; // what is asked for: delete, or nothing
  #failure; #sending = false;

  constructor(conversation) { this.conversation = conversation; }

  view() {
    const { id, title, deleted } = this.conversation;
    return html`<header class="whole"><h2 tabindex="-1">${deleted ? "Deleted conversation" : reveal(title || "Conversation")}</h2>
      ${id && !deleted ? html`<div class="buttons">${this.#button("delete", "Delete…")}</div>` : nothing}
      ${this.#open === "delete" && !deleted ? this.#deletion() : nothing}</header>`;
  }

  #button(name, label) {
    return html`<button type="button" class="plain small" id=${"whole-" + name} aria-expanded=${this.#open === name ? "true" : "false"}
      @click=${() => this.#toggle(name)}>${label}</button>`;
  }

  // toggle opens a panel and puts the focus into it, or closes it and puts the focus back.
  #toggle(name) {
    const was = this.#open;
    this.#open = was === name ? "" : name;
    this.#failure = undefined;
    this.conversation.changed();
    requestAnimationFrame(() => document.querySelector(this.#open ? ".whole .panel [tabindex]" : "#whole-" + was)?.focus());
  }

  #panel(style, body) {
    return html`<section class=${"panel " + style} aria-labelledby="panel" @keydown=${(e) => { if (e.key === "Escape") this.#toggle(this.#open); }}>
      ${body}${this.#failure ? html`<p class="failure" role="alert">${reveal(this.#failure.message)}</p>` : nothing}</section>`;
  }

  #deletion() {
    const waits = this.conversation.waiting.length;
    return this.#panel("danger", html`<h3 id="panel" tabindex="-1">Delete this conversation?</h3>
      <ul><li>Removed for everybody, and not to be brought back: its messages, results and files, its runs and their histories, its exported file.</li>
        ${waits ? html`<li><strong>${waits === 1 ? "An approval waits" : waits + " approvals wait"}.</strong> ${waits === 1 ? "It is withdrawn, and its call does" : "They are withdrawn, and their calls do"} not run.</li>` : nothing}
        <li>What stays is a record for audits: when it was deleted and by whom, and of each decision its tool, time, who made it, and a digest of the arguments. What tools have done stays done.</li></ul>
      <div class="buttons"><button type="button" class="danger" ?disabled=${this.#sending} @click=${() => this.#delete(waits > 0)}>${this.#sending ? "Deleting…" : waits ? "Withdraw and delete" : "Delete"}</button>
        <button type="button" class="plain" ?disabled=${this.#sending} @click=${() => this.#toggle("delete")}>Keep it</button></div>`);
  }

  async #delete(force) {
    const { conversation } = this;
    this.#sending = true;
    conversation.changed();
    try {
      const { status } = await api.remove(conversation.id, force).catch((e) => { if (e.status === 410) return {}; throw e; });
      this.#open = "";
      conversation.gone(new Error(status === "running" ? "This conversation is being deleted, which goes on by itself." : "This conversation is deleted."));
      conversation.page.removed(conversation.id);
      conversation.announce("The conversation is deleted");
      requestAnimationFrame(() => document.querySelector(".whole h2")?.focus());
    } catch (e) {
      this.#failure = e;
    }
    this.#sending = false;
    conversation.changed();
  }
}
