// The login, in place: what is on the screen stays.
import { html, nothing } from "./html.js";
import { reveal } from "./reveal.js";
import { atProvider, canLogOut, logOut, session, withKey } from "./session.js";

export function login() {
  if (!session.needed) return nothing;
  const { methods, me, failure } = session;
  const submit = (e) => {
    e.preventDefault();
    withKey(e.currentTarget.elements.key.value.trim());
    e.currentTarget.reset();
  };
  return html`<section class="login" aria-labelledby="login">
    <h2 id="login" tabindex="-1">${me?.authenticated ? "Your login has ended" : "Log in"}</h2>
    ${me?.authenticated ? html`<p>Log in again to go on. What is on this page stays, and so does what you typed.</p>` : nothing}
    ${failure ? html`<p class="failure" role="alert">${reveal(failure)}</p>` : nothing}
    ${methods.filter((m) => m.issuer).map((m) => html`<p><button type="button" class="primary" @click=${() => atProvider(m.issuer)}>Log in at ${new URL(m.issuer).host}</button></p>`)}
    ${methods.some((m) => m.type === "keys") ? html`<form @submit=${submit}><label for="key">Key</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" aria-describedby="about-key">
      <button type="submit">Log in with the key</button>
      <p id="about-key" class="quiet">A key of <code>agent keys add</code>. This browser keeps a session, not the key.</p></form>` : nothing}
  </section>`;
}

// whoAmI says who is logged in.
export function whoAmI() {
  const { me } = session;
  if (!me?.authenticated) return nothing;
  return html`<p class="me">${reveal(me.subject)} ${canLogOut() ? html`<button type="button" class="plain" @click=${logOut}>Log out</button>` : nothing}</p>`;
}
