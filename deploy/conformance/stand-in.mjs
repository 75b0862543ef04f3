// A stand-in for the API behind a tool server, on loopback: node stand-in.mjs PORT
//
//   /search          answers as SearXNG does
//   /conversations   answers as an agent does
import { createServer } from "node:http";

const answers = {
  "/conversations": { conversations: [{ id: "1", title: "a line to find" }] },
  "/search": { query: "", number_of_results: 1, answers: [], unresponsive_engines: [], results: [{ title: "A line to find", url: "https://example.com/", content: "text" }] },
};

createServer((request, response) => {
  const answer = answers[new URL(request.url, "http://stand-in").pathname];
  response.writeHead(answer ? 200 : 404, { "Content-Type": "application/json" });
  response.end(JSON.stringify(answer ?? {}));
}).listen(Number(process.argv[2]), "127.0.0.1");
