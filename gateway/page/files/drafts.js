// What a browser keeps between two visits: unsent texts, and the reader's name.

export function keep(key, text) {
  try {
    if (text) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
  } catch { /* without storage a reload loses them */ }
}

export function kept(key) {
  try { return localStorage.getItem(key) ?? ""; } catch { return ""; }
}

// draft returns the unsent text of a conversation; "" stands for the one that is not started.
export const draft = (conversation) => kept("draft:" + conversation);
export const keepDraft = (conversation, text) => keep("draft:" + conversation, text);

// chosen is the model for the next message of a conversation and all after it, until that is sent.
export const chosen = (conversation) => kept("model:" + conversation);
export const keepChosen = (conversation, model) => keep("model:" + conversation, model);

export const ownName = () => kept("name");
export const keepName = (name) => keep("name", name.trim());
