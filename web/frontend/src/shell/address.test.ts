import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { FakeClient } from "../testing/fake_client.ts";
import { followAddress, fragmentOf, readPlace } from "./address.ts";

describe("the fragment", () => {
  it("gives back any place", () => {
    const name = fc.option(fc.string({ unit: "grapheme", minLength: 1 }), { nil: null });
    fc.assert(
      fc.property(fc.record({ agent: name, session: name }), (place) => {
        expect(readPlace(fragmentOf(place))).toEqual(place);
      }),
    );
  });

  it("is empty for nowhere", () => expect(fragmentOf({ session: null })).toBe(""));
});

describe("the address", () => {
  let client: FakeClient;
  let stop: () => void = () => undefined;
  const onProblem = vi.fn();
  const follow = () => (stop = followAddress(client, onProblem));

  beforeEach(() => {
    client = new FakeClient();
    history.replaceState(null, "", "/");
    onProblem.mockClear();
  });
  afterEach(() => stop());

  it("opens its session when the connection is there", async () => {
    client.connection.value = { state: "connecting" };
    location.hash = "#agent=builtin&session=s2";
    follow();
    expect(client.calls).toEqual([]);
    client.connection.value = { state: "open", since: 0 };
    await vi.waitFor(() => expect(client.calls.map(([name]) => name)).toEqual(["refreshSessions", "openSession"]));
  });

  it("chooses the agent first", async () => {
    location.hash = "#agent=acme&session=s2";
    follow();
    await vi.waitFor(() => expect(client.calls.map(([name]) => name)).toEqual(["chooseAgent", "refreshSessions", "openSession"]));
  });

  it("follows the session that is shown", async () => {
    follow();
    await client.openSession("s1");
    expect(location.hash).toBe("#agent=builtin&session=s1");
    await client.openSession("s2");
    expect(location.hash).toBe("#agent=builtin&session=s2");
    client.active.value = null;
    expect(location.hash).toBe("");
  });

  it("of a session that is gone is a problem, once", async () => {
    location.hash = "#session=gone";
    follow();
    await vi.waitFor(() => expect(onProblem).toHaveBeenCalledOnce());
    expect(location.hash).toBe("");
  });
});
