// Notices of the browser about new approvals, for those who asked for them.
import { kept, keep } from "./drafts.js";

const asked = "notices";

export const canNotify = () => "Notification" in globalThis && isSecureContext;
export const allowsNotices = () => canNotify() && Notification.permission === "granted" && kept(asked) === "yes";

// allowNotices asks the reader, and returns the answer.
export async function allowNotices(wanted) {
  const yes = wanted && await Notification.requestPermission() === "granted";
  keep(asked, yes ? "yes" : "");
  return yes;
}

// notify tells of an approval, unless the reader looks at the page.
export function notify(uuid, title, body) {
  if (!allowsNotices() || !document.hidden) return;
  const notice = new Notification(title, { body, tag: uuid });
  notice.onclick = () => {
    focus();
    location.hash = "#/a/" + uuid;
    notice.close();
  };
}
