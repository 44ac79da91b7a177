/* The state of the connection, when it is not simply open. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { AccordClient, Connection } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";

/** "Connected again" goes by itself. */
const GOOD_NEWS_MS = 4_000;

export function ConnectionBanner({ client }: { client: AccordClient }) {
  const connection = client.connection.value;
  const isBack = useGoodNews(connection);
  return (
    <div class="banner-place" role="status">
      {connection.state === "open" ? (
        isBack && <p class="banner good">Connected again. Nothing was missed.</p>
      ) : (
        <Trouble connection={connection} onReload={() => client.reload()} />
      )}
    </div>
  );
}

function Trouble({ connection, onReload }: { connection: Exclude<Connection, { state: "open" }>; onReload(): void }) {
  switch (connection.state) {
    case "connecting":
      return <p class="banner">Connecting…</p>;
    case "waiting":
      return (
        <p class="banner warn">
          {connection.offline ? "You are offline." : sentence(connection.why)} What you type is kept.{" "}
          {!connection.offline && <Countdown until={connection.retryAt} />}
        </p>
      );
    case "lost":
      return (
        <div class="banner bad">
          <p>
            {sentence(connection.why)}{" "}
            {connection.missed && "Some of what happened meanwhile is missing here; loading again shows it."}
          </p>
          <button type="button" onClick={onReload}>
            Load again
          </button>
        </div>
      );
    case "refused":
      return (
        <div class="banner bad">
          <p>{sentence(connection.why)}</p>
          <button type="button" onClick={onReload}>
            Try again
          </button>
        </div>
      );
  }
}

const sentence = (why: string): string =>
  titleText(why, "There is no connection")
    .replace(/^./u, (first) => first.toUpperCase())
    .replace(/[^.!?]$/, "$&.");

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((until - now) / 1_000);
  // Read aloud once, not every second.
  return <span aria-hidden="true">{seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again…"}</span>;
}

function useGoodNews(connection: Connection): boolean {
  const before = useRef(connection.state);
  const [isBack, setBack] = useState(false);
  useEffect(() => {
    const wasWaiting = before.current === "waiting";
    before.current = connection.state;
    if (connection.state !== "open") return setBack(false);
    if (!wasWaiting) return;
    setBack(true);
    const timer = setTimeout(() => setBack(false), GOOD_NEWS_MS);
    return () => clearTimeout(timer);
  }, [connection.state]);
  return isBack;
}
