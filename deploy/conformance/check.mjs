// Runs named checks one after the other and counts them. $CHECKS is a regular expression that
// picks some by their names.
let passed = 0, failed = 0;
const picked = new RegExp(process.env.CHECKS ?? "");

export async function check(name, body) {
  if (!picked.test(name)) return;
  try {
    await body();
    passed++;
    console.log(`ok   ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAIL ${name}\n${e.stack ?? e}`);
  }
}

// finish prints the count and ends the process, with 1 when a check failed.
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
