import { act, cleanup, render, screen } from "@testing-library/preact";
import { afterEach, expect, test, vi } from "vitest";
import { Markdown } from "./Markdown.tsx";

afterEach(cleanup);

const drawn = (text: string) => render(<Markdown text={text} />).container;

const HOSTILE = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror=window.hacked=1>",
  "hello <img src=x onerror=window.hacked=1> there",
  "<svg onload=window.hacked=1>",
  '<iframe src="javascript:window.hacked=1"></iframe>',
  "<style>body{display:none}</style>",
  '<a href="javascript:window.hacked=1" onclick="window.hacked=1">x</a>',
  "<b onclick=window.hacked=1>x</b>",
  "<form action=https://evil.example><input name=password></form>",
  "[x](javascript:window.hacked=1)",
  "[x](JaVaScRiPt:window.hacked=1)",
  "[x](java&#115;cript:window.hacked=1)",
  "[x](vbscript:x) [y](data:text/html,<script>1</script>) [z](file:///etc/passwd) [b](blob:x)",
  "![x](https://evil.example/pixel.png)",
  "![x](javascript:alert(1))",
  "![x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x]: javascript:window.hacked=1\n\n[x]",
  "<details open ontoggle=window.hacked=1>x</details>",
  "```html\n<script>window.hacked=1</script>\n```",
  "`<img src=x onerror=window.hacked=1>`",
  "| <script>1</script> | b |\n|---|---|\n| <img src=x onerror=1> | x |",
];

test.each(HOSTILE)("nothing of %s becomes active", (text) => {
  const container = drawn(text);
  expect(
    container.querySelector(
      "script, iframe, object, embed, style, link, form, input, svg:not(.item-icon), base, meta",
    ),
  ).toBeNull();
  for (const element of container.querySelectorAll("*")) {
    for (const { name } of element.attributes) expect(name).not.toMatch(/^on|^style$|^srcdoc$/);
  }
  for (const link of container.querySelectorAll("a")) {
    expect(link.protocol).toMatch(/^(https?|mailto):$/);
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(link.getAttribute("target")).toBe("_blank");
  }
  for (const picture of container.querySelectorAll("img"))
    expect(picture.getAttribute("src")).toMatch(/^data:image\//);
  expect((window as { hacked?: number }).hacked).toBeUndefined();
});

test("HTML is shown as the text that it is, so nothing that was said is lost", () => {
  expect(drawn("<tool>\nread\n</tool>").textContent).toContain("<tool>");
  expect(drawn("a <unknown-tag> b").textContent).toContain("<unknown-tag>");
});

test("a few inline tags mean what they say, and unclosed ones are text", () => {
  expect(drawn("press <kbd>Enter</kbd> x<sup>2</sup><br>y").querySelector("kbd")!.textContent).toBe(
    "Enter",
  );
  expect(drawn("a <b>b").textContent).toBe("a <b>b");
});

test("Markdown is drawn as elements", () => {
  const container = drawn(
    "# Title\n\n**bold** *it* ~~gone~~ `code` &lt;x&gt;\n\n- [x] done\n- [ ] open\n\n3. three\n\n> quote\n\n| a |\n|:-:|\n| 1 |\n",
  );
  expect(container.querySelector("h4")!.textContent).toBe("Title");
  for (const name of ["strong", "em", "del", "code", "blockquote", "table"])
    expect(container.querySelector(name)).not.toBeNull();
  expect(container.querySelector("ol")!.getAttribute("start")).toBe("3");
  expect(container.textContent).toContain("<x>");
  expect(container.querySelectorAll("li.task")).toHaveLength(2);
  expect(screen.getByLabelText("done:")).not.toBeNull();
});

test("a link shows its whole address when it gets the focus", async () => {
  const container = drawn("[the bank](https://evil.example/login?x=1)");
  expect(container.querySelector(".link-bubble")).toBeNull();
  await act(async () => {
    container.querySelector("a")!.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
  });
  expect(container.querySelector(".link-bubble")!.textContent).toBe(
    "https://evil.example/login?x=1",
  );
});

test("a host in other letters is shown in its ASCII form", () => {
  expect(drawn("https://аррle.com").querySelector("a")?.textContent ?? "").not.toContain("а");
});

test("an address with a user name, which poses as a host, is no link", () => {
  expect(drawn("[x](https://bank.example@evil.example/)").querySelector("a")).toBeNull();
});

test("a very long text ends in a button", () => {
  const container = drawn("x ".repeat(200_000));
  expect(container.textContent!.length).toBeLessThan(110_000);
  expect(screen.getByRole("button").textContent).toContain("Show");
});

test("drawing again with more text keeps the elements of earlier blocks", async () => {
  const { container, rerender } = render(<Markdown text={"one\n\ntwo\n\nthree"} />);
  const first = container.querySelector("p");
  rerender(<Markdown text={"one\n\ntwo\n\nthree and more\n\nfour"} />);
  // Where reading took long, the new text is read a little later.
  await vi.waitFor(() => expect(container.querySelectorAll("p")).toHaveLength(4), 60_000);
  expect(container.querySelector("p")).toBe(first);
});
