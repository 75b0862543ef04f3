// Debian's glewlwyd as an OpenID provider, with a person and two clients.
//
//   node glewlwyd.mjs [PORT] --redirect URL --resource URL
//
// Without a port it takes a free one. It prints one line with its issuer when it listens, and ends with its standard
// input. Everything that it keeps is in a folder that is removed then.
//
// alice logs in with alice-password. Client agent is public: authorization code with PKCE, which comes back to the
// --redirect URL, device code and refresh. Client service has the secret service-secret: client credentials for the
// --resource URL, with the scope read. The audience of ID tokens is the client.
import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { redirect: { type: "string" }, resource: { type: "string" } } });
const freePort = () => new Promise((done) => {
  const s = createServer();
  s.listen(0, "127.0.0.1", () => { const { port } = s.address(); s.close(() => done(port)); });
});
const port = positionals[0] ?? await freePort();
const url = `http://127.0.0.1:${port}`, issuer = `${url}/api/oidc`;
const dir = mkdtempSync(join(tmpdir(), "glewlwyd-"));
const database = join(dir, "glewlwyd.db"), modules = "/usr/lib/glewlwyd";
execFileSync("sqlite3", [database], { input: readFileSync("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3") });
writeFileSync(join(dir, "glewlwyd.conf"), `port=${port}
bind_address="127.0.0.1"
external_url="${url}"
login_url="login.html"
api_prefix="api"
static_files_path="/usr/share/glewlwyd/webapp/"
log_mode="console"
log_level="WARNING"
cookie_domain="127.0.0.1"
cookie_secure=0
session_expiration=86400
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="${modules}/user"
user_middleware_module_path="${modules}/user_middleware"
client_module_path="${modules}/client"
user_auth_scheme_module_path="${modules}/scheme"
plugin_module_path="${modules}/plugin"
hash_algorithm="SHA512"
database = { type = "sqlite3" path = "${database}" }
`);
const server = spawn("glewlwyd", [`--config-file=${join(dir, "glewlwyd.conf")}`], { stdio: ["ignore", "inherit", "inherit"] });
process.on("exit", () => { server.kill(); rmSync(dir, { recursive: true, force: true }); });
server.on("error", (e) => { console.error(`glewlwyd does not start: ${e.message}`); process.exit(1); });
server.on("exit", () => process.exit(1));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
process.stdin.resume().on("end", () => process.exit());

let cookie = "";
// call asks the API of its administration.
async function call(path, body) {
  const reply = await fetch(`${url}/api/${path}`, { method: "POST", headers: { "Content-Type": "application/json", cookie }, body: JSON.stringify(body) });
  cookie = reply.headers.getSetCookie().map((c) => c.split(";")[0]).join("; ") || cookie;
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
}

async function soon(f) {
  for (const end = Date.now() + 10_000; ; await new Promise((done) => setTimeout(done, 50))) {
    try { return await f(); } catch (e) { if (Date.now() > end || e.cause?.code !== "ECONNREFUSED") throw e; }
  }
}

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
await soon(() => call("auth/", { username: "admin", password: "password" }));
await call("mod/plugin/", {
  module: "oidc", name: "oidc", display_name: "oidc", enabled: true,
  parameters: {
    "iss": issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": privateKey.export({ type: "pkcs8", format: "pem" }), "cert": publicKey.export({ type: "spki", format: "pem" }),
    "access-token-duration": 3600, "refresh-token-duration": 86400, "code-duration": 600, "refresh-token-rolling": true, "allow-non-oidc": true,
    "auth-type-code-enabled": true, "auth-type-client-enabled": true, "auth-type-refresh-enabled": true, "auth-type-device-enabled": true,
    "auth-type-token-enabled": false, "auth-type-id-token-enabled": true, "auth-type-password-enabled": false,
    "device-authorization-expiration": 600, "device-authorization-interval": 1, "jwks-show": true, "pkce-allowed": true, "pkce-required": false, "subject-type": "public",
    "introspection-revocation-allowed": true, "introspection-revocation-allow-target-client": true,
    "session-management-allowed": true, "session-cookie-name": "OIDC_SID", "session-cookie-expiration": 86400,
    "resource-allowed": true, "resource-client-property": "resource", "resource-scope-and-client-property": false, "scope": [], "claims": [],
  },
});
await call("scope/", { name: "read", display_name: "read", description: "read", password_required: false, scheme: {} });
await call("user/", { username: "alice", password: "alice-password", name: "Alice", scope: ["openid"], enabled: true });
await call("client/", {
  client_id: "agent", name: "agent", confidential: false, enabled: true, scope: [],
  authorization_type: ["code", "refresh_token", "device_authorization"], redirect_uri: [flags.redirect], token_endpoint_auth_method: ["none"],
});
await call("client/", {
  client_id: "service", name: "service", confidential: true, client_secret: "service-secret", enabled: true, scope: ["read"],
  authorization_type: ["client_credentials"], redirect_uri: [], token_endpoint_auth_method: ["client_secret_basic"], resource: [flags.resource],
});
console.log(issuer);
