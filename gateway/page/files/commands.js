// Commands of a chat, such as !list, which the agent carries out, and their offer in the composer.
import { html, nothing } from "./html.js";
import * as api from "./api.js";
import { keepChosen, keepDraft, ownName } from "./drafts.js";

const names = ["help", "new", "list", "use", "tree", "inbox", "approve", "reject", "later", "cancel", "model", "delete"];

// isCommand tells whether the agent interprets a text before it is sent.
export const isCommand = (text) => /^\s*[!@]/.test(text);

// carryOut carries out a command for a conversation, or sends the message that it is.
export async function carryOut(conversation, text) {
  conversation.failure = conversation.said = undefined;
  try {
    const reply = await api.command({ text, conversation_id: conversation.id, shown: conversation.shownApprovals, by: ownName() || undefined });
    if (reply.model) keepChosen(reply.conversation_id, reply.model);
    conversation.said = reply.text;
    conversation.announce(reply.text);
    conversation.paused(); // lists may have changed
    const { message, conversation_id: next } = reply;
    if (next !== (conversation.id ?? "")) {
      if (message) keepDraft(next, message.text);
      location.hash = next ? "#/c/" + next : "#/";
    } else if (message) return conversation.send(message.text, { model: message.model });
  } catch (e) {
    conversation.failure = new Error(e.message); // which does not close the conversation
    if (!text.startsWith("!")) conversation.giveBack(text);
  }
  conversation.changed();
}

// offer has a button for each command that a text may become.
export function offer(text, pick) {
  const [, begun] = /^!(\w*)$/.exec(text) ?? [];
  if (begun === undefined) return nothing;
  return html`<div class="offer" role="group" aria-label="Commands">${names.filter((n) => n.startsWith(begun)).map((n) => html`<button type="button" class="plain" @click=${() => pick("!" + n)}>!${n}</button>`)}</div>`;
}
