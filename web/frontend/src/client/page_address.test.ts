import { expect, test } from "vitest";
import { readAddress } from "./page_address.ts";

test("a token and an invitation are read from the fragment, which is left out", () => {
  expect(readAddress("http://localhost:8087/?x=1#token=abc")).toEqual({
    address: "http://localhost:8087/?x=1",
    token: "abc",
    invitation: null,
  });
  const { invitation } = readAddress("http://h/#join=k%2Fy&session=s&agent=a");
  expect(invitation).toEqual({ code: "k/y", sessionId: "s", agent: "a" });
  expect(readAddress("http://h/").token).toBeNull();
});
