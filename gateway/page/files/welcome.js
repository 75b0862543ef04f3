// What a conversation that has not begun says of the agent.
import { html, nothing } from "./html.js";
import { reveal } from "./reveal.js";

const firstSentence = (text) => {
  const sentence = text.split(/\n|(?<=\.) /)[0];
  return sentence.length > 200 ? sentence.slice(0, 200) + "…" : sentence;
};

const names = (list) => html`<ul class="tools">${list.map((t) => html`<li><code>${reveal(t.name)}</code> ${reveal(firstSentence(t.description))}</li>`)}</ul>`;

// welcome shows what an agent can do, as far as that is known.
export function welcome({ about, offer }) {
  const isAsked = (t) => t.approval?.asks ?? t.destructiveHint;
  const asks = offer?.tools.filter(isAsked) ?? [], runs = offer?.tools.filter((t) => !isAsked(t)) ?? [];
  return html`<section class="welcome"><h2 tabindex="-1">What can I do for you?</h2>
    ${about?.description ? html`<p class="description">${reveal(about.description)}</p>` : nothing}
    ${asks.length ? html`<h3>Asks a person before it uses</h3>${names(asks)}` : nothing}
    ${runs.length ? html`<h3>Uses at once</h3>${names(runs)}` : nothing}</section>`;
}
