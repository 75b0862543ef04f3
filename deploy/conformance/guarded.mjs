// A tool server that wants tokens of an OpenID provider, issued for itself.
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

// serveGuarded starts one, with the tools NAME_count, which only reads, and NAME_remove, which destroys. calls has the tool and
// the claims of each call; after revoke it accepts only tokens that were issued later.
export async function serveGuarded(issuer, name) {
  const keys = createRemoteJWKSet(new URL(issuer + "/jwks"));
  const self = { calls: [], refused: new Set(), last: "", revoke: () => self.refused.add(self.last), close: () => { server.closeAllConnections(); server.close(); } };
  const tools = [["count", { readOnlyHint: true }], ["remove", { destructiveHint: true }]].map(([what, annotations]) => (
    { name: `${name}_${what}`, inputSchema: { type: "object" }, annotations }
  ));

  async function claimsOf(req) {
    const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1] ?? "";
    const verified = await jwtVerify(token, keys, { issuer, audience: self.url }).catch(() => undefined);
    if (!verified || self.refused.has(token)) return undefined;
    self.last = token;
    return verified.payload;
  }

  function answer({ method, params }, claims) {
    switch (method) {
      case "initialize": return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: "1" } };
      case "tools/list": return { tools };
      case "tools/call":
        self.calls.push({ tool: params.name, claims });
        return { content: [{ type: "text", text: "done" }] };
    }
    return {};
  }

  const server = createServer(async (req, res) => {
    const reply = (status, body, headers = {}) => res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(body && JSON.stringify(body));
    if (req.url === "/about") return reply(200, { resource: self.url, authorization_servers: [issuer] });
    const claims = await claimsOf(req);
    if (!claims) return reply(401, undefined, { "WWW-Authenticate": `Bearer resource_metadata="${new URL("/about", self.url)}", scope="read"` });
    if (req.method !== "POST") return reply(405);
    let body = "";
    for await (const piece of req) body += piece;
    const message = JSON.parse(body);
    if (message.id === undefined) return reply(202);
    reply(200, { jsonrpc: "2.0", id: message.id, result: answer(message, claims) });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  self.url = `http://127.0.0.1:${server.address().port}/mcp`;
  return self;
}
