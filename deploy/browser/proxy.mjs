// A proxy that logs people in: whoever has the cookie user=NAME comes to the agent as X-Subject.
// It serves the agent below /agents/one/.
import { createServer, request } from "node:http";

const prefix = "/agents/one/";

// serveProxy starts the proxy and returns the URL of the page behind it.
export async function serveProxy(agent) {
  const server = createServer((req, res) => {
    const user = /user=(\w+)/.exec(req.headers.cookie ?? "")?.[1];
    if (!req.url.startsWith(prefix)) return res.writeHead(404).end();
    const { "x-subject": _, ...headers } = req.headers;
    const { hostname, port } = new URL(agent.url);
    const onward = request({ hostname, port, method: req.method, path: "/" + req.url.slice(prefix.length), headers: user ? { ...headers, "x-subject": user } : headers }, (reply) => {
      res.writeHead(reply.statusCode, reply.headers);
      reply.pipe(res);
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}${prefix}`, close: () => { server.closeAllConnections(); server.close(); } };
}
