import { expect, test } from "vitest";
import { CANCELLED, ConnectionLost, Rpc, RpcError, type Incoming } from "./rpc.ts";

function peer() {
  const sent: Record<string, unknown>[] = [];
  const requests: Incoming[] = [];
  const notifications: unknown[] = [];
  const rpc = new Rpc((message) => sent.push(message as Record<string, unknown>) > 0, {
    request: (request) => requests.push(request),
    notification: (method, params) => notifications.push([method, params]),
  });
  return { rpc, sent, requests, notifications };
}

test("a call gets the answer with its id", async () => {
  const { rpc, sent } = peer();
  const [first, second] = [rpc.call("a", {}), rpc.call("b", {})];
  rpc.receive({ jsonrpc: "2.0", id: 2, result: "of b" });
  rpc.receive({ jsonrpc: "2.0", id: 1, result: "of a" });
  rpc.receive({ jsonrpc: "2.0", id: 1, result: "again" });
  expect([await first, await second]).toEqual(["of a", "of b"]);
  expect(sent.map((one) => one["id"])).toEqual([1, 2]);
});

test("an error says the method, the code and the words of the agent", async () => {
  const { rpc } = peer();
  const call = rpc.call("a", {});
  rpc.receive({ id: 1, error: { code: -32000, message: "Log in first", data: { x: 1 } } });
  await expect(call).rejects.toEqual(new RpcError("a", -32000, "Log in first", { x: 1 }));
});

test("a request is answered once, and not after it was taken back", () => {
  const { rpc, sent, requests } = peer();
  rpc.receive({ id: "x", method: "ask", params: {} });
  rpc.receive({ id: 7, method: "ask", params: {} });
  let gone = false;
  (requests[1] as Incoming).withdrawn = () => (gone = true);
  rpc.receive({ method: "$/cancel_request", params: { requestId: 7 } });
  requests[1]?.answer("late");
  requests[0]?.answer("yes");
  requests[0]?.refuse(1, "no");
  expect(gone).toBe(true);
  expect(sent).toEqual([
    { jsonrpc: "2.0", id: 7, error: { code: CANCELLED, message: "Request cancelled" } },
    { jsonrpc: "2.0", id: "x", result: "yes" },
  ]);
});

test("when the connection ends, calls fail and questions go", async () => {
  const { rpc, requests } = peer();
  const call = rpc.call("a", {});
  rpc.receive({ id: 7, method: "ask" });
  let gone = false;
  (requests[0] as Incoming).withdrawn = () => (gone = true);
  rpc.end("It was cut.");
  await expect(call).rejects.toEqual(new ConnectionLost("It was cut."));
  expect(gone).toBe(true);
});

test("a call that is given up is cancelled at the agent, which may answer all the same", async () => {
  const { rpc, sent } = peer();
  const controller = new AbortController();
  const call = rpc.call("a", {}, controller.signal);
  controller.abort();
  rpc.receive({ id: 1, result: "in time" });
  expect(await call).toBe("in time");
  expect(sent[1]).toEqual({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 1 } });
});

test("whatever else comes is passed over", () => {
  const { rpc, sent, notifications } = peer();
  for (const odd of [null, 5, [], {}, { id: null, method: "x" }, { id: 9, result: 1 }])
    rpc.receive(odd);
  expect(sent).toEqual([]);
  expect(notifications).toEqual([["x", undefined]]);
});
