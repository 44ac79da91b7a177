import { cleanup, render } from "@testing-library/preact";
import { afterEach, expect, test } from "vitest";
import type { ContentBlock } from "../transcript/items.ts";
import { ContentBlockView } from "./ContentBlockView.tsx";
import { titleText, visibleText } from "./visible_text.ts";

afterEach(cleanup);

const drawn = (block: unknown) =>
  render(<ContentBlockView block={block as ContentBlock} />).container;
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("a picture is drawn from its data and never from elsewhere", () => {
  expect(
    drawn({ type: "image", mimeType: "image/png", data: PIXEL }).querySelector("img")!.src,
  ).toMatch(/^data:image\/png;base64,/);
  expect(
    drawn({
      type: "image",
      mimeType: "image/png",
      data: "",
      uri: "https://a.example/x.png",
    }).querySelector("img"),
  ).toBeNull();
});

test.each([
  ["text/html", PIXEL],
  ["image/png;,<script>", "x"],
  ["image/png", '" onerror="alert(1)'],
  ["image/png, https://evil.example/", PIXEL],
  [{ evil: 1 }, PIXEL],
])("a picture of type %s is refused if it is none", (mimeType, data) => {
  const container = drawn({ type: "image", mimeType, data });
  const source = container.querySelector("img")?.getAttribute("src") ?? "data:image/png;base64,";
  expect(source).toMatch(/^data:image\/png;base64,[A-Za-z0-9+/=]*$/);
});

test("sounds have controls", () => {
  expect(
    drawn({ type: "audio", mimeType: "audio/wav", data: "UklGRg==" }).querySelector(
      "audio[controls]",
    ),
  ).not.toBeNull();
});

test("a resource link says name, type, size and address", () => {
  const text = drawn({
    type: "resource_link",
    name: "a.txt",
    uri: "file:///home/ada/a%20b.txt",
    mimeType: "text/plain",
    size: 2_500,
  }).textContent!;
  for (const words of ["a.txt", "/home/ada/a b.txt", "text/plain", "2.5 kB"])
    expect(text).toContain(words);
});

test("a link to a script is text", () => {
  expect(
    drawn({ type: "resource_link", name: "x", uri: "javascript:alert(1)" }).querySelector("a"),
  ).toBeNull();
});

test("attached text is unfolded as code", () => {
  const container = drawn({
    type: "resource",
    resource: { uri: "file:///a.py", text: "print(1)", mimeType: "text/x-python" },
  });
  expect(container.querySelector("details code")!.textContent).toBe("print(1)");
});

test("a block that is not known is shown generically", () => {
  const container = drawn({
    type: "unknown",
    tag: "hologram",
    received: { type: "hologram", html: "<script>1</script>" },
  });
  expect(container.textContent).toContain("hologram");
  expect(container.querySelector("script")).toBeNull();
});

test.each([
  { type: "text" },
  { type: "text", text: 5 },
  { type: "resource" },
  { type: "resource", resource: { uri: 3, blob: {} } },
  { type: "resource_link" },
  { type: "audio" },
])("a block with missing or wrong fields does not break the page: %j", (block) => {
  drawn(block);
});

test("characters that turn text around are shown by their number", () => {
  expect(visibleText("rm \u202Etxt.exe\u200b")).toBe("rm ‹U+202E›txt.exe‹U+200B›");
  expect(titleText(" a\n\nb ".repeat(2))).toBe("a b a b");
  expect(titleText("x".repeat(10_000)).length).toBeLessThanOrEqual(1_000);
});
