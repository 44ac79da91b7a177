// How a scripted TypeScript-SDK client goes through its steps and prints what it saw.
//
// The twin of script.py.  A client hands over its app, its steps and the SDK's `ndJsonStream`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { Seen } from "./seen.mjs";

const SETTLE_MS = 10_000;
export const ECHO = "_interop/echo";
// Params of methods beyond the protocol are taken as they are.
export const AS_IS = { parse: (params) => params };
// One block of every kind that needs no sound.
export const BLOCKS = [
  { type: "text", text: "blocks" },
  { type: "image", data: "aGk=", mimeType: "image/png" },
  { type: "resource_link", uri: "file:///link", name: "link" },
  { type: "resource", resource: { uri: "file:///text", text: "embedded" } },
];

/** The state that the handlers of a client and its steps share. */
export class Script {
  constructor() {
    this.seen = new Seen("start");
    this.answer = "allow_once";
    this.formAnswer = "accept";
    this.session = "";
    this.waiters = [];
    this.arrived = 0;
    this.handled = 0;
  }

  /** The answer to a form. */
  fillIn({ message, requestedSchema }) {
    this.seen.add("forms", { message, fields: Object.keys(requestedSchema.properties) });
    const action = this.formAnswer;
    return action === "accept" ? { action, content: { name: "Ada" } } : { action };
  }

  fold(update) {
    this.handled++;
    this.seen.fold(update);
    this.waiters = this.waiters.filter((waiter) => !waiter());
  }

  /** Wait for updates that make the condition true. */
  until(condition) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`gave up: ${condition}`)), SETTLE_MS);
      const waiter = () => condition() && (clearTimeout(timer), resolve(), true);
      if (!waiter()) this.waiters.push(waiter);
    });
  }

  /** Counts updates before the SDK hands them to their handler. */
  watch({ readable, writable }) {
    const transform = (message, controller) => {
      if (message.method === "session/update") this.arrived++;
      controller.enqueue(message);
    };
    return { writable, readable: readable.pipeThrough(new TransformStream({ transform })) };
  }

  hasSpoken() {
    return this.seen.kinds.some((kind) => kind.startsWith("agent_message"));
  }
}

/** The agent that follows `--`: a command, or the URL of one that is served already. */
function connect([target, ...rest], ndJsonStream) {
  if (/^https?:/.test(target)) return { stream: createHttpStream(target), exited: [null] };
  if (/^wss?:/.test(target)) return { stream: createWebSocketStream(target), exited: [null] };
  const agent = spawn(target, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  return { stream, exited: once(agent, "exit"), end: () => agent.stdin.end() };
}

/** Connect to the agent, run the steps that precede `--`, print the report. */
export async function main(script, app, steps, ndJsonStream) {
  const split = process.argv.indexOf("--");
  const { stream, exited, end } = connect(process.argv.slice(split + 1), ndJsonStream);
  const reports = await app.connectWith(script.watch(stream), async (peer) => {
    const done = [];
    for (const step of ["start", "new", ...process.argv.slice(2, split)]) {
      const [verb, ...argument] = step.split(":");
      script.seen = new Seen(step);
      try {
        await steps[verb](peer, argument.join(":"));
      } catch (error) {
        if (error.code === undefined) throw error;
        script.seen.facts.error = { code: error.code, message: error.message };
      }
      // Handlers may run after the answer that follows their update: wait for what has arrived.
      await script.until(() => script.handled >= script.arrived);
      done.push(script.seen.report());
    }
    return done;
  });
  end?.();
  const [exit] = await exited;
  console.log(JSON.stringify({ steps: reports, exit }));
  process.exit(0);
}
