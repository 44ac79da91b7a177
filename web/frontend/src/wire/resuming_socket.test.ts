import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeServer } from "../testing/fake_server.ts";
import { ResumingSocket, SILENCE_MS_MAX, type SocketState } from "./resuming_socket.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function connected() {
  const server = new FakeServer();
  const received: unknown[] = [];
  const states: SocketState[] = [];
  const owner = {
    received: (message: unknown) => received.push(message),
    changed: (state: SocketState) => states.push(state),
  };
  const parts = { open: server.open, now: () => Date.now(), chance: () => 0 };
  const socket = new ResumingSocket("ws://gateway/agents/a/acp", owner, parts);
  socket.start();
  return { server, socket, received, states };
}

/** Let everything that is on its way arrive, and lost sockets come back. */
function settle(server: FakeServer): void {
  for (let round = 0; round < 3; round += 1) {
    server.deliverAll();
    vi.advanceTimersByTime(2 * SILENCE_MS_MAX);
  }
  server.deliverAll();
}

const numbered = (from: string, number: number) => ({
  jsonrpc: "2.0",
  method: from,
  params: { number },
});

type Step = "client" | "server" | "toClient" | "toServer" | "cut" | "later";
const steps = fc.array(
  fc.constantFrom<Step>(
    "client",
    "server",
    "toClient",
    "toServer",
    "toClient",
    "toServer",
    "cut",
    "later",
  ),
  { maxLength: 200 },
);

test("whenever it is cut, every frame arrives once and in order, both ways", () => {
  fc.assert(
    fc.property(steps, (script) => {
      const { server, socket, received, states } = connected();
      const sent: object[] = [];
      const said: object[] = [];
      const actions: Record<Step, () => void> = {
        client: () => {
          sent.push(numbered("client", sent.length));
          socket.send(JSON.stringify(sent.at(-1)));
        },
        server: () => {
          said.push(numbered("server", said.length));
          server.say(said.at(-1) as object);
        },
        toClient: () => server.deliverToClient(),
        toServer: () => server.deliverToServer(),
        cut: () => server.cut(1006, ""),
        later: () => vi.advanceTimersByTime(700),
      };
      for (const step of script) actions[step]();
      settle(server);
      expect(received).toEqual(said);
      expect(server.received).toEqual(sent);
      expect(states.at(-1)).toEqual({ state: "open" });
      socket.close();
    }),
  );
});

test("cut at every single frame, nothing is lost", () => {
  const frames = 12;
  for (let at = 0; at <= 2 * frames; at += 1) {
    const { server, socket, received } = connected();
    const said = Array.from({ length: frames }, (_, number) => numbered("server", number));
    server.deliverAll();
    for (const [number, message] of said.entries()) {
      server.say(message);
      socket.send(JSON.stringify(numbered("client", number)));
      if (at === 2 * number) server.cut(1006, "");
      server.deliverToClient();
      if (at === 2 * number + 1) server.cut(1006, "");
      server.deliverToServer();
    }
    settle(server);
    expect(received).toEqual(said);
    expect(server.received).toHaveLength(frames);
    socket.close();
  }
});

test("it acknowledges every 256 frames, and what came after 2 seconds", () => {
  const { server, socket } = connected();
  server.deliverAll();
  for (let number = 0; number < 300; number += 1) server.say(numbered("server", number));
  server.deliverAll();
  expect(server.acknowledged).toEqual([256]);
  vi.advanceTimersByTime(2_000);
  server.deliverAll();
  expect(server.acknowledged).toEqual([256, 300]);
  vi.advanceTimersByTime(60_000);
  expect(server.acknowledged).toEqual([256, 300]);
  socket.close();
});

test("a server that does not acknowledge is left, and the next socket goes on", () => {
  const { server, socket, states } = connected();
  server.deliverAll();
  socket.send(JSON.stringify(numbered("client", 0)));
  server.isDeaf = true;
  vi.advanceTimersByTime(SILENCE_MS_MAX);
  expect(states.at(-1)).toMatchObject({ state: "waiting", why: "the server does not answer" });
  server.isDeaf = false;
  settle(server);
  expect(server.received).toHaveLength(1);
  expect(states.at(-1)).toEqual({ state: "open" });
  socket.close();
});

test("attempts are made at once, then later and later", () => {
  const { server, socket, states } = connected();
  server.deliverAll();
  server.isDown = true;
  server.cut(1006, "");
  const delays: number[] = [];
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const last = states.at(-1);
    if (last?.state !== "waiting") throw new Error("it does not wait");
    delays.push(last.retryAt - Date.now());
    vi.advanceTimersByTime(last.retryAt - Date.now());
    server.refuse();
  }
  expect(delays).toEqual([0, 250, 500, 1000, 2000, 4000, 7500, 7500]);
  socket.close();
});

test.each([
  [1008, "gap", "messages were lost", true],
  [1008, "unknown connection", "the server no longer has the connection", true],
  [1002, "bad", "the server closed the connection (code 1002: bad)", false],
])("it ends when the server closes with %i %s", (code, reason, why, isForgotten) => {
  const { server, socket, states } = connected();
  server.deliverAll();
  server.cut(code, reason);
  expect(states.at(-1)).toEqual({ state: "ended", why, isForgotten });
  expect(socket.send("{}")).toBe(false);
});

test("closed here, the connection ends at the server too", () => {
  const { server, socket } = connected();
  server.deliverAll();
  socket.close();
  expect(server.closedWith).toBe(1000);
});
