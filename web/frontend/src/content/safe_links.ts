/* Which addresses become links. Everything else stays text. */

const SCHEMES = new Set(["http:", "https:", "mailto:"]);
const ADDRESS_CHARS_MAX = 4_000;

/** The address as the browser would open it, or null where it must not be a link.

    The host is in its ASCII form, so that letters of other scripts cannot pose as Latin ones. */
export function safeAddress(href: unknown): string | null {
  if (typeof href !== "string" || href.length > ADDRESS_CHARS_MAX) return null;
  let url: URL;
  try {
    url = new URL(href.trim());
  } catch {
    return null;
  }
  // A user name before the host is only there to look like another host.
  if (!SCHEMES.has(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url.href;
}

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)$/;
const SOUNDS = /^audio\/[a-z0-9.+-]+$/;

/** A `data:` address for an image or a sound that came inside a content block. */
export function mediaAddress(
  kind: "image" | "audio",
  mimeType: unknown,
  data: unknown,
): string | null {
  if (typeof mimeType !== "string" || typeof data !== "string") return null;
  const type = mimeType.toLowerCase().split(";")[0]!.trim();
  if (!(kind === "image" ? IMAGES : SOUNDS).test(type) || !BASE64.test(data)) return null;
  return `data:${type};base64,${data.replace(/\s+/g, "")}`;
}
