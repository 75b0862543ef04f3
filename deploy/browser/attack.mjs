// Texts that run a script where they are taken for HTML, a link or Markdown. Each calls
// globalThis.attacked.
let n = 0;
export function attack(where) {
  const run = `globalThis.attacked('${where} ${n++}')`;
  return `<img src=x onerror="${run}"><script>${run}</script><svg onload="${run}"></svg>"><b onmouseover="${run}">b</b>` +
    `[link](javascript:${encodeURIComponent(run)}) ![image](https://attack.example/${n}.png) <iframe srcdoc="<script>parent.${run}</script>"></iframe>` +
    `<a href="javascript:${run}">a</a> <style>body{display:none}</style> \${${run}} {{${run}}}`;
}
