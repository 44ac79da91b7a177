import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { FakeClient } from "../../testing/fake_client.ts";
import type { FakeSession } from "../../testing/fake_session.ts";
import { FormPanel } from "./FormPanel.tsx";

let session: FakeSession;
beforeEach(async () => {
  session = await new FakeClient().openSession("s2");
});
afterEach(cleanup);

const SCHEMA = {
  type: "object",
  required: ["version", "channel"],
  properties: {
    version: { type: "string", title: "Version", minLength: 3 },
    channel: { type: "string", title: "Channel", enum: ["alpha", "beta"] },
    retries: { type: "integer", title: "Retries", maximum: 5, default: 3 },
    targets: { type: "array", title: "Targets", items: { type: "string", enum: ["linux", "mac"] } },
    sign: { type: "boolean", title: "Sign" },
  },
};
const show = (params: Parameters<FakeSession["askForm"]>[0]) => render(<FormPanel question={session.askForm(params)} agent="Accord" onLeave={() => undefined} />);
const send = () => fireEvent.click(screen.getByRole("button", { name: "Send answers" }));
const type = (label: RegExp, value: string) => fireEvent.input(screen.getByLabelText(label), { target: { value } });

describe("a form", () => {
  it("says what is wrong, puts the focus there, and sends nothing", () => {
    show({ schema: SCHEMA });
    type(/Version/, "1");
    send();
    expect(session.calls).toEqual([]);
    const version = screen.getByLabelText(/Version/);
    expect(document.activeElement).toBe(version);
    expect(version.getAttribute("aria-invalid")).toBe("true");
    const describedBy = version.getAttribute("aria-describedby")!;
    expect(document.getElementById(describedBy)!.textContent).toBe("Enter at least 3 characters.");
    expect(screen.getByText("Choose one.")).toBeTruthy();
  });

  it("sends values of the types that the schema has", () => {
    show({ schema: SCHEMA });
    type(/Version/, "1.2.3");
    fireEvent.click(screen.getByLabelText("beta"));
    fireEvent.click(screen.getByLabelText("mac"));
    fireEvent.click(screen.getByLabelText("linux"));
    send();
    expect(session.calls).toEqual([["accept", { version: "1.2.3", channel: "beta", retries: 3, targets: ["linux", "mac"], sign: false }]]);
  });

  it("keeps what was entered until it is sent, also when the question comes again", () => {
    show({ schema: SCHEMA, message: "Which?" });
    type(/Version/, "1.2.3");
    cleanup();
    show({ schema: SCHEMA, message: "Which?" });
    expect(screen.getByLabelText<HTMLInputElement>(/Version/).value).toBe("1.2.3");
    fireEvent.click(screen.getByLabelText("beta"));
    send();
    cleanup();
    show({ schema: SCHEMA, message: "Which?" });
    expect(screen.getByLabelText<HTMLInputElement>(/Version/).value).toBe("");
  });

  it("can be declined and dismissed", () => {
    show({});
    fireEvent.click(screen.getByRole("button", { name: "Decline" }));
    fireEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(session.calls.map(([name]) => name)).toEqual(["decline", "cancelQuestion"]);
  });
});

describe("a page that the agent names", () => {
  it("is shown with its whole address, and opened only by a click", () => {
    show({ mode: "url", url: "https://example.org/login?next=/x" });
    expect(screen.getByText("https://example.org/login?next=/x")).toBeTruthy();
    const link = screen.getByRole("link", { name: "Open in a new tab" });
    expect([link.getAttribute("rel"), link.getAttribute("target")]).toEqual(["noopener noreferrer", "_blank"]);
    // Tests reach no network.
    link.addEventListener("click", (event) => event.preventDefault());
    fireEvent.click(link);
    expect(session.calls).toEqual([["accept", {}]]);
  });

  it.each(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "nonsense", null])("is not a link if it is %s", (url) => {
    show({ mode: "url", url });
    expect(screen.queryByRole("link")).toBeNull();
  });
});
