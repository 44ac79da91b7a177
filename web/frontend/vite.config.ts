import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const page = fileURLToPath(new URL("../../src/accord/web/page", import.meta.url));

export default defineConfig({
  // The page works under any path that a gateway serves it at.
  base: "./",
  build: {
    outDir: page,
    emptyOutDir: true,
    target: "es2022",
    // Nothing may be inlined: the content policy of the page allows files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}", "tests/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    // Finds hangs; on a busy machine everything else takes as long as it takes.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
