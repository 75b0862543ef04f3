// Files that go with a message: chosen, dropped or pasted, and shown before they are sent.
import { html, nothing } from "./html.js";
import { reveal } from "./reveal.js";

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const pdf = "application/pdf", most = 16, room = 6_000_000; // bytes of all together: the agent takes 8 MiB of base64

// Files are those of the next message.
export class Files {
  list = []; // {name, type, size, data, url}
  refusal = "";

  constructor(changed, announce) { Object.assign(this, { changed, announce }); }

  async add(files) {
    this.refusal = "";
    for (const f of files) {
      try {
        this.list = [...this.list, await this.#read(f)];
      } catch (e) {
        this.refusal = e.message;
      }
    }
    if (!this.refusal) this.announce(`${this.list.length} files to send`); // a refusal is an alert
    this.changed();
  }

  // read returns a file as it is sent, or says why it cannot be.
  async #read(f) {
    if (!f.size) throw new Error(`${f.name} is empty, or is a folder.`);
    if (this.list.length >= most) throw new Error(`A message takes ${most} files at most; ${f.name} is left out.`);
    if (this.list.reduce((sum, l) => sum + l.size, f.size) > room) throw new Error(`${f.name} is too large: all files of a message together have at most 6 MB.`);
    const bytes = new Uint8Array(await f.arrayBuffer()), image = images.includes(f.type), shown = image || f.type === pdf;
    if (!shown && !isText(bytes)) throw new Error(`${f.name} is neither a text in UTF-8 nor a PDF nor an image that models can see (PNG, JPEG, GIF, WebP).`);
    return { name: f.name.slice(-60), type: shown ? f.type : "text/plain", size: f.size, data: base64(bytes), url: image && URL.createObjectURL(f) };
  }

  remove(file) {
    this.list = this.list.filter((f) => f !== file);
    this.changed();
  }

  // take returns the files, and forgets them.
  take() {
    const { list } = this;
    this.list = [];
    this.refusal = "";
    return list;
  }

  view() {
    return html`${this.refusal ? html`<p class="failure" role="alert">${reveal(this.refusal)}</p>` : nothing}
      ${this.list.length ? html`<ul class="files" aria-label="Files to send">${this.list.map((f) => html`<li>${f.url ? html`<img src=${f.url} alt="">` : nothing}
        <span>${reveal(f.name)} <span class="quiet">${size(f.size)}</span></span>
        <button type="button" class="plain small" aria-label=${"Remove " + f.name} @click=${() => this.remove(f)}>Remove</button></li>`)}</ul>
        <p class="quiet">Sent with the message. A reload forgets files, not the text.</p>` : nothing}`;
  }

  button(disabled) {
    return html`<label class=${"attach" + (disabled ? " disabled" : "")}><input type="file" class="unseen" multiple ?disabled=${disabled} @change=${(e) => { this.add([...e.target.files]); e.target.value = ""; }}>
      <span>Attach<span class="unseen"> images, PDFs or text files</span></span></label>`;
  }

  // pasted takes what a paste or a drop brings, unless that has no files.
  pasted(e) {
    const files = [...(e.clipboardData ?? e.dataTransfer).files];
    if (!files.length) return;
    e.preventDefault();
    this.add(files);
  }
}

export const asSent = (files) => files.length ? files.map(({ name, type, data }) => ({ name, media_type: type, data })) : undefined;

const size = (n) => n < 1000 ? n + " bytes" : n < 1e6 ? (n / 1e3).toFixed(0) + " kB" : (n / 1e6).toFixed(1) + " MB";

function isText(bytes) {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0");
  } catch { return false; }
}

function base64(bytes) {
  let text = "";
  for (let n = 0; n < bytes.length; n += 8192) text += String.fromCharCode(...bytes.subarray(n, n + 8192));
  return btoa(text);
}
