/** Mounts the page: on a gateway, or with `?demo` on scripted sessions without any server. */

import { render } from "preact";
import { GatewayClient } from "./client/accord_client.ts";
import { readAddress } from "./client/page_address.ts";
import type { AccordClient } from "./client/types.ts";
import { App } from "./shell/App.tsx";

const SLEEP_CHECK_MS = 30_000;
// A hidden tab's timers come once a minute.
const SLEEP_MS = 150_000;

/** What is in the fragment is for the page only, and is used once. */
function connect(): AccordClient {
  const { address, token, invitation } = readAddress(location.href);
  if (token !== null || invitation !== null) history.replaceState(null, "", address);
  const client = new GatewayClient({ address, storage: storageOf(window) });
  void client.start(token, invitation);
  addEventListener("online", () => client.wake("the network is back"));
  addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") client.retry();
  });
  let seenAt = Date.now();
  setInterval(() => {
    if (Date.now() - seenAt > SLEEP_MS) client.wake("the computer slept");
    seenAt = Date.now();
  }, SLEEP_CHECK_MS);
  addEventListener("pagehide", () => client.close());
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) client.reload();
  });
  return client;
}

/** Null where the user forbids pages to keep anything. */
function storageOf(page: Window): Storage | null {
  try {
    return page.localStorage;
  } catch {
    return null;
  }
}

async function clientOfPage(): Promise<AccordClient> {
  if (!import.meta.env.DEV || !new URLSearchParams(location.search).has("demo")) return connect();
  const { FakeClient } = await import("./testing/fake_client.ts");
  return new FakeClient(30);
}

const root = document.getElementById("app");
if (root !== null) void clientOfPage().then((client) => render(<App client={client} />, root));
