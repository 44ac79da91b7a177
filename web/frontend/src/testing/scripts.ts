/** Scripted sessions as updates of the wire, for component tests, pictures and `?demo`. */

const FENCE = "```";

/** What a session looks like in which every common kind of update came. */
export const FIXED_A_BUG: readonly unknown[] = [
  {
    sessionUpdate: "available_commands_update",
    availableCommands: [
      {
        type: "command",
        name: "test",
        description: "Run the tests",
        input: { type: "text", hint: "which" },
      },
      { type: "command", name: "review", description: "Review what changed" },
    ],
  },
  {
    sessionUpdate: "config_option_update",
    configOptions: [
      {
        type: "select",
        configId: "mode",
        name: "Mode",
        category: "mode",
        currentValue: "ask",
        options: [
          { value: "ask", name: "Ask", description: "Asks before it changes anything" },
          { value: "edit", name: "Edit", description: "Changes files without asking" },
        ],
      },
      {
        type: "select",
        configId: "model",
        name: "Model",
        category: "model",
        currentValue: "large",
        options: [
          {
            groupId: "acme",
            name: "Acme",
            options: [
              { value: "large", name: "Large" },
              { value: "small", name: "Small" },
            ],
          },
        ],
      },
      { type: "boolean", configId: "web", name: "Search the web", currentValue: true },
    ],
  },
  {
    sessionUpdate: "session_info_update",
    title: "Fix the failing test",
    updatedAt: "2026-11-19T20:00:00Z",
  },
  {
    sessionUpdate: "user_message",
    messageId: "u1",
    content: [{ type: "text", text: "The test of `total()` fails. Please fix it." }],
    _meta: { "accord.author": { user: "ada", displayName: "Ada" } },
  },
  { sessionUpdate: "state_update", state: "running" },
  {
    sessionUpdate: "agent_thought_chunk",
    messageId: "t1",
    content: { type: "text", text: "I run the test first, then read the function." },
  },
  {
    sessionUpdate: "plan_update",
    plan: {
      type: "items",
      planId: "p1",
      entries: [
        { content: "Run the failing test", priority: "high", status: "completed" },
        { content: "Fix `total()`", priority: "high", status: "in_progress" },
        { content: "Run all tests", priority: "medium", status: "pending" },
      ],
    },
  },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "c1",
    title: "pytest tests/test_basket.py",
    kind: "execute",
    status: "in_progress",
    rawInput: { command: "pytest tests/test_basket.py" },
    content: [{ type: "terminal", terminalId: "term1" }],
  },
  {
    sessionUpdate: "terminal_update",
    terminalId: "term1",
    command: "pytest tests/test_basket.py",
    cwd: "/home/ada/shop",
  },
  {
    sessionUpdate: "terminal_output_chunk",
    terminalId: "term1",
    data: base64(
      "\u001b[1m===== test session starts =====\u001b[0m\r\ntests/test_basket.py \u001b[31mF\u001b[0m\r\n",
    ),
  },
  {
    sessionUpdate: "terminal_output_chunk",
    terminalId: "term1",
    data: base64(
      "\u001b[31mE   assert 11 == 10\u001b[0m\r\n\u001b[31m1 failed\u001b[0m in 0.02s\r\n",
    ),
  },
  { sessionUpdate: "terminal_update", terminalId: "term1", exitStatus: { exitCode: 1 } },
  { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed" },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "c2",
    title: "Read basket.py",
    kind: "read",
    status: "completed",
    locations: [{ path: "/home/ada/shop/basket.py", line: 12 }],
    content: [
      {
        type: "content",
        content: { type: "text", text: "def total(items):\n    return sum(items) + 1\n" },
      },
    ],
  },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "c3",
    title: "Edit basket.py",
    kind: "edit",
    status: "completed",
    locations: [{ path: "/home/ada/shop/basket.py", line: 13 }],
    content: [
      {
        type: "diff",
        changes: [{ operation: "modify", path: "/home/ada/shop/basket.py" }],
        patch: {
          format: "git_patch",
          text: [
            "diff --git a/basket.py b/basket.py",
            "--- a/basket.py",
            "+++ b/basket.py",
            "@@ -12,2 +12,2 @@ class Basket:",
            " def total(items):",
            "-    return sum(items) + 1",
            "+    return sum(items)",
            "",
          ].join("\n"),
        },
      },
    ],
  },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "c4",
    title: "Edit README.md",
    kind: "edit",
    status: "completed",
    content: [
      {
        type: "diff",
        path: "/home/ada/shop/README.md",
        oldText: "# Shop\n\nThe basket adds one.\n",
        newText: "# Shop\n\nThe basket adds up what is in it.\n",
      },
    ],
  },
  {
    sessionUpdate: "subagent_update",
    sessionId: "child1",
    title: "Look for other users of total()",
    state: { state: "idle", stopReason: "end_turn" },
  },
  {
    sessionUpdate: "notice",
    severity: "warning",
    title: "The context is nearly full",
    description: "Older messages will be summarised.",
  },
  {
    sessionUpdate: "compaction_update",
    compactionId: "k1",
    status: "completed",
    summary: [{ type: "text", text: "One test failed; the fix is in." }],
  },
  { sessionUpdate: "_acme_weather", sky: "clear" },
  {
    sessionUpdate: "usage_update",
    used: 53_000,
    size: 200_000,
    cost: { amount: 0.42, currency: "USD" },
  },
  {
    sessionUpdate: "plan_update",
    plan: {
      type: "items",
      planId: "p1",
      entries: [
        { content: "Run the failing test", priority: "high", status: "completed" },
        { content: "Fix `total()`", priority: "high", status: "completed" },
        { content: "Run all tests", priority: "medium", status: "completed" },
      ],
    },
  },
  ...chunks("a1", [
    "`total()` added **one** too many. ",
    "It reads like this now:\n\n",
    `${FENCE}python\ndef total(items):\n    return sum(items)\n${FENCE}\n\n`,
    "| test | result |\n|---|---|\n| `test_total` | passed |\n| `test_empty` | passed |\n",
  ]),
  { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
];

/** An answer in chunks, as a prompt gets it in `?demo`. */
export function answerTo(text: string, messageId: string): unknown[] {
  return [
    { sessionUpdate: "state_update", state: "running" },
    ...chunks(
      messageId,
      `You said: *${text}*\n\nThis is a demonstration, nobody is here.`.split(/(?<= )/),
    ),
    { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
  ];
}

export function chunks(messageId: string, texts: readonly string[]): unknown[] {
  return texts.map((text) => ({
    sessionUpdate: "agent_message_chunk",
    messageId,
    content: { type: "text", text },
  }));
}

export function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
