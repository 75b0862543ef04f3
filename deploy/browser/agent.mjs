// Agents of a test: real processes with ports and folders of their own.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { mkdirSync, readFileSync, writeFileSync, openSync } from "node:fs";
import { join } from "node:path";

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export const freePort = () => new Promise((done) => {
  const s = createServer();
  s.listen(0, "127.0.0.1", () => { const { port } = s.address(); s.close(() => done(port)); });
});

export class Agent {
  // make writes the file of an agent. yaml follows the settings that every one has.
  static async make(bin, dir, yaml, env = {}) {
    mkdirSync(dir, { recursive: true });
    const [api, grpc] = [await freePort(), await freePort()];
    const own = `host: 127.0.0.1\nport: ${api}\ndata_dir: "${dir}/data"\ntemporal: {port: ${grpc}, ui_port: 0}\n`;
    const agent = Object.assign(new Agent(), { bin, dir, own, file: join(dir, "agent.yaml"), env, url: `http://127.0.0.1:${api}` });
    agent.configure(yaml);
    return agent;
  }

  // configure writes the file again, for the next start.
  configure(yaml) { writeFileSync(this.file, this.own + yaml); }

  async start() {
    const log = join(this.dir, "log");
    const out = openSync(log, "w");
    this.process = spawn(join(this.bin, "agent"), ["--config", this.file], { env: { ...process.env, ...this.env }, stdio: ["ignore", out, out] });
    this.ended = new Promise((done) => this.process.on("exit", done));
    for (const end = Date.now() + 60_000; Date.now() < end; await pause(100)) {
      if (readFileSync(log, "utf8").includes("is ready")) return this;
      if (this.process.exitCode !== null) break;
    }
    throw new Error("the agent does not start: " + readFileSync(log, "utf8").slice(-2000));
  }

  async end(signal = "SIGTERM") {
    this.process?.kill(signal);
    await this.ended;
  }

  async ask(path, body, headers = {}) {
    const reply = await fetch(this.url + path, body && { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
    return reply.json();
  }
}
