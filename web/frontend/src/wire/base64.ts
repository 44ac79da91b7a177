/** Base64 as it really comes: with line breaks, or without its padding. */

const CANONICAL = /^[A-Za-z0-9+/]*={0,2}$/;

/** With padding and without line breaks; null for what is no base64. */
export function canonicalBase64(text: string): string | null {
  const isCanonical = text.length % 4 === 0 && CANONICAL.test(text);
  const bare = isCanonical ? text : text.replace(/\s/g, "");
  const padded = bare + "=".repeat(-bare.length & 3);
  if (!CANONICAL.test(padded)) return null;
  // Bits behind the last byte are dropped.
  if (!padded.endsWith("=")) return padded;
  try {
    return btoa(atob(padded));
  } catch {
    return null;
  }
}

export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

export function base64Of(bytes: Uint8Array): string {
  const parts: string[] = [];
  // Function arguments are bounded, so a piece at a time.
  for (let start = 0; start < bytes.length; start += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + 0x8000)));
  }
  return btoa(parts.join(""));
}
