import { render } from "preact";
import "/tmp/w/wview_demo/styles/base.css";
import { FakeClient } from "./testing/fake_client.ts";
import { Conversation } from "./conversation/Conversation.tsx";
import { ReviewPanel } from "./review/ReviewPanel.tsx";
import { FollowView } from "./review/FileView.tsx";
import { FilesTouched } from "./review/FilesTouched.tsx";
import { PlanPanel } from "./conversation/PlanView.tsx";
import { UsageMeter } from "./conversation/UsageMeter.tsx";
import { setDiffLayout } from "./review/DiffView.tsx";
import { chunks } from "./testing/scripts.ts";

const query = new URLSearchParams(location.search);
const theme = query.get("theme");
if (theme) document.documentElement.dataset["theme"] = theme;
if (query.get("split")) setDiffLayout("split"); else setDiffLayout("inline");
const session = await new FakeClient().openSession("s1");
const py = `import json\n\nfrom shop.items import Item\n\n\nclass Basket:\n    """What a customer is about to buy."""\n\n    def __init__(self, items: list[Item]) -> None:\n        self.items = items\n\n    def total(self) -> int:\n        return sum(item.price * item.count for item in self.items)\n\n    def dump(self) -> str:\n        return json.dumps([item.name for item in self.items])\n\n\ndef empty() -> Basket:\n    return Basket([])\n`;
const before = py.replace("item.price * item.count", "item.price").replace("[item.name for item in self.items]", "self.items").replace("list[Item]", "list");
session.files.set("/home/ada/shop/basket.py", py);
session.files.set("/home/ada/shop/README.md", "# Shop\n\nThe basket adds up what is in it.\n");
const view = query.get("view") ?? "conversation";
if (view === "review" || query.get("more")) {
  session.play([{ sessionUpdate: "tool_call_update", toolCallId: "e1", title: "Edit basket.py", kind: "edit", status: "completed", locations: [{ path: "/home/ada/shop/basket.py", line: 13 }],
    content: [{ type: "diff", changes: [], path: "/home/ada/shop/basket.py", oldText: before, newText: py }] }]);
}
if (query.get("more")) {
  session.play([
    { sessionUpdate: "user_message", messageId: "u2", content: [{ type: "text", text: "Now look at `shop/items.py` too\nand tell me what you think." }, { type: "resource_link", name: "items.py", uri: "file:///home/ada/shop/items.py", mimeType: "text/x-python", size: 4210 }], _meta: { "accord.author": { user: "grace", displayName: "Grace Hopper" } } },
    ...chunks("a2", ["# Findings\n\nThere are **three** things, see [the guide](https://docs.example.com/guide/basket?chapter=3) and https://example.com/ :\n\n1. `price` is *not* checked\n2. `count` may be negative\n   - even `-1`\n   - or `None`\n3. The cache is never cleared\n\n> A basket is not a shelf.\n\n- [x] read the code\n- [ ] change it\n\n```typescript\nexport async function total(items: Item[]): Promise<number> {\n  // Adds up what is in the basket.\n  return items.reduce((sum, { price, count }) => sum + price * count, 0);\n}\n```\n\n| module | lines | covered |\n|:--|--:|:-:|\n| basket | 120 | yes |\n| items | 88 | no |\n\nThat is all.\n"]),
    { sessionUpdate: "tool_call_update", toolCallId: "x1", title: "Search for `total(` in all files of the project", kind: "search", status: "completed" },
    { sessionUpdate: "tool_call_update", toolCallId: "x2", title: "Fetch https://docs.example.com/guide/basket", kind: "fetch", status: "in_progress" },
    { sessionUpdate: "tool_call_update", toolCallId: "x3", title: "npm run build", kind: "execute", status: "in_progress", content: [{ type: "terminal", terminalId: "t9" }] },
    { sessionUpdate: "terminal_update", terminalId: "t9", command: "npm run build", cwd: "/home/ada/shop" },
    { sessionUpdate: "terminal_output_chunk", terminalId: "t9", data: btoa("\u001b[36mvite v8.3.8\u001b[39m building for production...\r\n\u001b[32m+\u001b[39m 42 modules transformed.\r\n\u001b[33mwarning\u001b[0m: chunk is large\r\n\u001b[2mdist/\u001b[22m\u001b[35massets/index.js\u001b[39m  \u001b[1m41.20 kB\u001b[22m\r\n") },
    { sessionUpdate: "notice", severity: "error", title: "The MCP server \"files\" has stopped", description: "It will be started again with the next prompt." },
    { sessionUpdate: "plan_update", plan: { type: "items", planId: "p2", entries: [{ content: "Check `price`", priority: "high", status: "completed" }, { content: "Check `count`, also when it is negative", priority: "medium", status: "in_progress" }, { content: "Clear the cache", priority: "low", status: "pending" }] } },
  ]);
  session.running.value = { by: "ada", since: Date.now() - 12_300 };
}
if (view === "hostile") {
  const evil = "<img src=x onerror=document.title='HACKED'><script>document.title='HACKED'</script> \u202E gnp.exe javascript:alert(1) " + "W".repeat(3000);
  session.play([
    ...chunks("h1", [evil, "\n\n[click me](javascript:alert(1)) [safe?](https://bank.example@evil.example) ![p](https://evil.example/p.png)\n\n" , "> ".repeat(3000) + "deep\n\n"]),
    { sessionUpdate: "tool_call_update", toolCallId: evil, title: evil, kind: evil, status: evil, locations: [{ path: evil, line: 3 }], rawInput: { [evil]: evil }, content: [{ type: "content", content: { type: "text", text: evil } }, { type: evil, x: evil }, { type: "diff", changes: [{ operation: evil, path: evil }], patch: { format: "git_patch", text: evil } }] },
    { sessionUpdate: "plan_update", plan: { type: "items", planId: evil, entries: [{ content: evil, priority: evil, status: evil }] } },
    { sessionUpdate: "terminal_update", terminalId: evil, command: evil, cwd: evil }, { sessionUpdate: "terminal_output_chunk", terminalId: evil, data: btoa("\u001b]0;x\u0007<b>hi</b>") },
    { sessionUpdate: "notice", severity: evil, title: evil, description: evil }, { sessionUpdate: evil, html: evil },
    { sessionUpdate: "subagent_update", sessionId: "z", title: evil, description: evil },
    { sessionUpdate: "usage_update", used: 1e300, size: 5, cost: { amount: 1e300, currency: evil } },
  ]);
}
if (view === "long") {
  const updates: unknown[] = [];
  for (let n = 0; n < 20_000; n += 1) updates.push(n % 4 === 0 ? { sessionUpdate: "tool_call_update", toolCallId: `l${n}`, title: `Read file ${n}`, kind: "read", status: "completed" } : chunks(`m${n}`, [`Message **${n}** ${"with some words ".repeat(n % 40)}\n\n\`\`\`py\nprint(${n})\n\`\`\``])[0]);
  const at = performance.now();
  session.play(updates);
  (window as any).played = performance.now() - at;
}
(window as any).session = session;
(window as any).chunks = chunks;
const node = view === "review" ? <ReviewPanel session={session} onClose={() => {}} /> : view === "follow" ? <FollowView session={session} /> : view === "files" ? <FilesTouched session={session} onReview={() => {}} /> : (
  <div style={{ display: "flex", flexDirection: "column", height: "100%" }}>
    <div style={{ display: "flex", gap: 16, padding: "8px 20px", borderBottom: "1px solid var(--border)" }}><div style={{ flex: 1, minWidth: 0 }}><PlanPanel transcript={session.transcript} /></div><UsageMeter transcript={session.transcript} /></div>
    <div style={{ flex: 1, minHeight: 0 }}><Conversation session={session} onShowFile={() => {}} /></div>
    <textarea rows={2} id="prompt" aria-label="Prompt" style={{ margin: 12 }} />
  </div>
);
(window as any).mounted = performance.now();
render(node, document.getElementById("app")!);
if (query.get("top")) setTimeout(() => { document.querySelector(".list-view")!.scrollTop = Number(query.get("top")); }, 300);
