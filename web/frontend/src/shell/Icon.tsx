/* The icons of the page: outlines of 24 by 24.  They are decoration; the control has the words. */

const PATHS = {
  accord: "M4 18 12 4l8 14M7.5 12h9",
  agent: "M12 3v3M6 8h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM9 13v1M15 13v1",
  attach: "m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.4 17a1.7 1.7 0 0 1-2.4-2.4L14.5 7",
  back: "m14 5-7 7 7 7",
  bell: "M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15L6 16ZM10 21h4",
  check: "m5 12.5 5 5L19 7",
  close: "m6 6 12 12M18 6 6 18",
  columns: "M4 5h16v14H4zM12 5v14",
  edit: "m4 20 1-4.5L16 4.5l3.5 3.5L8.5 19 4 20ZM14 6.5l3.5 3.5",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  fork: "M7 4v16M7 14c6 0 10-2 10-7M17 4v3M5 4h4M15 4h4M5 20h4",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.8v.2",
  key: "M14.5 9.5a4 4 0 1 0-3.4 4l1.9-1.9 2 .4.4 2 2 .4.4 2h3.2v-3.2l-6.5-6.5ZM8 9.6v.1",
  logout: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
  options: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5",
  none: "",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 11.5v1M12 11.5v1M19 11.5v1M4.5 12h1M11.5 12h1M18.5 12h1",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM3 20c0-3.5 2.5-6 6-6s6 2.5 6 6M16 4.5a3.5 3.5 0 0 1 0 6.5M17.5 14.4c2.2.8 3.5 2.9 3.5 5.6",
  plus: "M12 5v14M5 12h14",
  review: "M8 4v8M4 8h8M4 19h8M14 8h6M14 19h6",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  theme: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 3v18M12 7h7M12 12h9M12 17h7",
  trash: "M5 7h14M10 4h4M7 7l1 13h8l1-13M10 11v5M14 11v5",
  wire: "M7 4v14M4 15l3 3 3-3M17 20V6M14 9l3-3 3 3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon-drawing" viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" aria-hidden="true">
      <path d={PATHS[name]} stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
