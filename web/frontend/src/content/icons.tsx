/* Signs of tool calls, states and attachments: lines in the colour of the text around them. */

const PATHS: Record<string, string> = {
  read: "M4 3h6l3 3v7H4zM10 3v3h3M6 8.5h5M6 11h5",
  edit: "M3 13l.6-2.8L10.5 3.3l2.2 2.2-6.9 6.9zM9 4.8l2.2 2.2",
  delete: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M7 7v4M9 7v4",
  move: "M3 8h9M9 5l3 3-3 3",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.3 10.3L13.5 13.5",
  execute: "M2.5 3.5h11v9h-11zM4.8 6l2 2-2 2M8.3 10.2h3",
  think: "M8 2.5a4 4 0 0 1 2.3 7.3V11H5.7V9.800A4 4 0 0 1 8 2.500zM6.2 13h3.6",
  fetch: "M8 2.5v7M5 7l3 3 3-3M3 12.500h10",
  switch_mode: "M3 5.500h8M8.5 3l2.5 2.500L8.5 8M13 10.500H5M7.5 8L5 10.5 7.5 13",
  other: "M8 2.500l1.5 4 4 1.5-4 1.5-1.5 4-1.5-4-4-1.5 4-1.500z",
  agent: "M4 6.500h8v6H4zM8 6.500V4M8 4a1 1 0 1 0 0-2 1 1 0 0 0 0 2zM6.3 9.300v.400M9.7 9.300v.4",
  plan: "M3 4l1 1 1.5-2M3 8l1 1 1.5-2M3 12l1 1 1.5-2M8 4h5M8 8h5M8 12h5",
  terminal: "M2.5 3.500h11v9h-11zM4.8 6l2 2-2 2M8.3 10.200h3",
  notice: "M8 7.200v4M8 4.800v.300M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  warning: "M8 2.500l6 10.800H2zM8 6.500v3.500M8 11.600v.2",
  compaction: "M4 2.500l4 3.5 4-3.500M4 13.500l4-3.5 4 3.500M3 8h10",
  link: "M6.5 9.5l3-3M7.5 4.8l1.6-1.6a2.6 2.6 0 0 1 3.7 3.7l-1.6 1.6M8.5 11.2l-1.6 1.6a2.6 2.6 0 0 1-3.7-3.7l1.6-1.6",
  data: "M8 2.5l5 2.700v5.600L8 13.500l-5-2.700V5.200zM3 5.200L8 8l5-2.800M8 8v5.5",
  picture: "M2.5 3.500h11v9h-11zM3 11.500l3-3 2.5 2.5 2-2 2.5 2.500M10.5 6.500v.1",
  message: "M2.5 3.500h11v7.500H7l-3 2.500v-2.500H2.500z",
};

export function Icon({ name }: { name: string }) {
  const path = Object.hasOwn(PATHS, name) ? PATHS[name] : PATHS["other"];
  return (
    <svg
      class="item-icon"
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="1.3"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={path} />
    </svg>
  );
}

const SIGNS: Record<string, string> = {
  pending: "M8 4.500V8l2.2 1.800M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  in_progress: "M8 2a6 6 0 1 0 6 6",
  paused: "M6 4.500v7M10 4.500v7",
  completed: "M3.5 8.500l3 3 6-7",
  failed: "M4 4l8 8M12 4l-8 8",
  cancelled: "M3.5 8h9",
};

const STATUS_WORDS: Record<string, string> = {
  pending: "waiting",
  in_progress: "running",
  paused: "paused",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** A status as a sign with its word, which a screen reader says. */
export function Status({ status }: { status: string }) {
  const known = Object.hasOwn(SIGNS, status) ? status : "in_progress";
  const word = STATUS_WORDS[known];
  return (
    <span class={`status status-${known}`} title={word}>
      <svg
        viewBox="0 0 16 16"
        aria-hidden="true"
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      >
        <path d={SIGNS[known]} />
      </svg>
      <span class="hidden-text">{word}</span>
    </span>
  );
}
