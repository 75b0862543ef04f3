// Views, and the addresses that open them. Another view is one more line in routes.
//
// A view has view(), which returns its template, and close(). It may have
//
//	title, heading   for the tab, and for those who do not see the page; waits: how many decisions
//	focus            a selector: what has the focus at first
//	sleep(), wake()  when nobody looks at the tab, and when somebody does again
//	follows          whether its end stays in sight while it grows
//	scrolled()       after the reader has scrolled
//	key(event)       acts for a key that was not typed into a field; false if it means nothing
import { Approval } from "./approval.js";
import { Conversation } from "./conversation.js";
import { Inbox } from "./inbox.js";
import { Run } from "./run.js";

const routes = [
  [/^#\/inbox$/, (page) => new Inbox(page)],
  [/^#\/a\/([\w-]+)$/, (page, uuid) => new Approval(page, uuid)],
  [/^#\/c\/#?([\w-]+)\/run$/, (page, id) => new Run(page, id)],
  [/^#\/c\/#?([\w-]+)$/, (page, id) => new Conversation(page, id)],
  [/^/, (page) => new Conversation(page)],
];

// Router keeps the view of the address.
export class Router {
  current; #address;

  constructor(page) { this.page = page; }

  // open shows the view of an address, unless it is shown.
  open(address) {
    if (this.#address === address) return false;
    this.#address = address;
    this.current?.close();
    const [form, make] = routes.find(([form]) => form.test(address));
    this.current = make(this.page, ...form.exec(address).slice(1));
    return true;
  }

  // moved gives the current view another address.
  moved(address) {
    this.#address = address;
    history.replaceState(null, "", address);
  }
}
