import { describe, expect, it } from "vitest";

import {
  ATTACHMENT_BYTES_MAX,
  ATTACHMENTS_MAX,
  attachmentOf,
  isMention,
  mentionOf,
  promptBlocks,
  promptCapabilities,
  refusal,
  stillMentioned,
} from "./attachments.ts";

const ALL = { image: true, audio: true, embeddedContext: true };
const NONE = { image: false, audio: false, embeddedContext: false };
const file = (content: BlobPart, name: string, type = "") => new File([content], name, { type });

describe("what an agent takes", () => {
  it("is read from its capabilities", () => {
    expect(promptCapabilities({ session: { prompt: { image: {}, embeddedContext: {} } } })).toEqual({
      image: true,
      audio: false,
      embeddedContext: true,
    });
    expect(promptCapabilities(null)).toEqual(NONE);
  });

  it("decides what is refused, with a sentence", () => {
    expect(refusal(file("x", "a.png", "image/png"), [], NONE)).toBe("This agent does not accept images. a.png was not attached.");
    expect(refusal(file("x", "a.ogg", "audio/ogg"), [], NONE)).toContain("does not accept audio");
    expect(refusal(file("x", "a.txt", "text/plain"), [], NONE)).toBeNull();
    expect(refusal(file("x", "a.svg", "image/svg+xml"), [], NONE)).toBeNull();
    expect(refusal(file(new Uint8Array(ATTACHMENT_BYTES_MAX + 1), "big"), [], ALL)).toContain("at most 8.4 MB");
    const full = Array.from({ length: ATTACHMENTS_MAX }, (_, n) => mentionOf(`f${n}`, "/w"));
    expect(refusal(file("x", "a.txt"), full, ALL)).toContain("too much for one prompt");
  });
});

describe("an attachment", () => {
  it("is an image with its preview", async () => {
    const made = await attachmentOf(file("abc", "a.png", "image/png"), ALL);
    expect(made).toMatchObject({
      name: "a.png",
      size: 3,
      block: { type: "image", mimeType: "image/png", data: "YWJj" },
      preview: "data:image/png;base64,YWJj",
    });
  });

  it("is a resource if it is text, and words for an agent that takes none", async () => {
    expect(await attachmentOf(file("é", "a b.txt"), ALL)).toMatchObject({
      mimeType: "text/plain",
      block: { type: "resource", resource: { uri: "attachment:a%20b.txt", text: "é" } },
    });
    expect(await attachmentOf(file("a ```` b", "a.md"), NONE)).toMatchObject({
      block: { type: "text", text: "a.md:\n\n`````\na ```` b\n`````" },
    });
  });

  it("is a blob if it is not text", async () => {
    const bytes = new Uint8Array([0, 255, 1]);
    expect(await attachmentOf(file(bytes, "a.bin"), ALL)).toMatchObject({ block: { resource: { blob: "AP8B" } } });
    expect(await attachmentOf(file(bytes, "a.bin"), NONE)).toMatchObject({ problem: expect.stringContaining("a.bin") });
  });
});

describe("a mention", () => {
  it("is a link to the file", () => {
    const mention = mentionOf("src/ä b.py", "/shop/");
    expect(isMention(mention)).toBe(true);
    expect(mention.block).toEqual({ type: "resource_link", name: "ä b.py", uri: "file:///shop/src/%C3%A4%20b.py" });
  });

  it("goes when the text no longer names it", () => {
    const mention = mentionOf("a.py", "/w");
    expect(stillMentioned("see @a.py", [mention])).toEqual([mention]);
    expect(stillMentioned("see", [mention])).toEqual([]);
  });
});

it("sends the words first", () => {
  const mention = mentionOf("a.py", "/w");
  expect(promptBlocks("  see @a.py ", [mention])).toEqual([{ type: "text", text: "see @a.py" }, mention.block]);
  expect(promptBlocks(" ", [mention])).toEqual([mention.block]);
});
