/* Parsed Markdown as elements. No HTML is ever made, so nothing has to be cleaned of scripts.

   HTML that an agent writes is shown as the text that it is, but for a few inline tags without
   attributes. Pictures from elsewhere become links: loading them would tell others what is read. */

import { h, type ComponentChildren, type VNode } from "preact";
import type { Token, Tokens } from "marked";
import { Code } from "../Code.tsx";
import { decodeEntities } from "./entities.ts";
import { Icon } from "../icons.tsx";
import { Link } from "./Link.tsx";
import { mediaAddress } from "../safe_links.ts";

const DEPTH_MAX = 40;
// Tags that agents use inside words and tables; only without attributes.
const INLINE_TAGS = new Set([
  "b",
  "i",
  "em",
  "strong",
  "u",
  "s",
  "del",
  "ins",
  "sub",
  "sup",
  "kbd",
  "mark",
  "small",
  "code",
]);
const TAG = /^<(\/?)([a-z]+)\s*(\/?)>$/i;

type Children = readonly Token[] | undefined;

/** One block of a message. */
export function block(token: Token, depth = 0): ComponentChildren {
  if (depth > DEPTH_MAX) return token.raw;
  switch (token.type) {
    case "heading":
      // One level for all: the page's own headings are above it, and none is skipped.
      return (
        <h4 class={`md-h${(token as Tokens.Heading).depth}`} dir="auto">
          {inline(token.tokens, depth)}
        </h4>
      );
    case "paragraph":
      return <p dir="auto">{inline(token.tokens, depth)}</p>;
    case "text":
      return token.tokens ? inline(token.tokens, depth) : decodeEntities(token.text);
    case "code":
      return <Code code={(token as Tokens.Code).text} info={(token as Tokens.Code).lang} />;
    case "blockquote":
      return <blockquote dir="auto">{blocks(token.tokens, depth + 1)}</blockquote>;
    case "list":
      return list(token as Tokens.List, depth);
    case "table":
      return table(token as Tokens.Table, depth);
    case "hr":
      return <hr />;
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "plain":
    case "html":
      return (
        <p class="as-text" dir="auto">
          {token.raw.trim()}
        </p>
      );
    default:
      return inline([token], depth);
  }
}

function blocks(tokens: Children, depth: number): ComponentChildren {
  return (tokens ?? []).map((token, index) => <Part key={index} token={token} depth={depth} />);
}

function Part({ token, depth }: { token: Token; depth: number }) {
  return <>{block(token, depth)}</>;
}

function list(token: Tokens.List, depth: number): VNode {
  const items = token.items.map((item, index) => (
    <li key={index} class={item.task ? "task" : undefined} dir="auto">
      {item.task ? (
        <span class="task-mark" role="img" aria-label={item.checked ? "done:" : "to do:"}>
          {item.checked ? "☑" : "☐"}{" "}
        </span>
      ) : null}
      {blocks(item.tokens, depth + 1)}
    </li>
  ));
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={typeof token.start === "number" ? token.start : undefined}>{items}</ol>;
}

function table(token: Tokens.Table, depth: number): VNode {
  const cell = (name: "th" | "td", one: Tokens.TableCell, index: number) =>
    h(
      name,
      { key: index, class: one.align ? `align-${one.align}` : undefined, dir: "auto" },
      inline(one.tokens, depth + 1),
    );
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{token.header.map((one, index) => cell("th", one, index))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{row.map((one, column) => cell("td", one, column))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The inside of a paragraph, a heading or a cell. */
function inline(tokens: Children, depth: number): ComponentChildren {
  if (tokens === undefined) return null;
  return depth > DEPTH_MAX
    ? tokens.map((token) => token.raw).join("")
    : inlineRun(tokens, 0, null, depth).made;
}

/** Elements from `start` up to the closing tag named `closing`. */
function inlineRun(
  tokens: readonly Token[],
  start: number,
  closing: string | null,
  depth: number,
): { made: ComponentChildren[]; next: number; closed: boolean } {
  const made: ComponentChildren[] = [];
  let at = start;
  while (at < tokens.length) {
    const token = tokens[at]!;
    at += 1;
    const [, slash, name = ""] = (token.type === "html" && TAG.exec(token.raw.trim())) || [];
    const tag = name.toLowerCase();
    if (tag === "br") made.push(<br />);
    else if (tag !== "" && slash === "/" && tag === closing)
      return { made, next: at, closed: true };
    else if (tag !== "" && slash === "" && INLINE_TAGS.has(tag) && depth < DEPTH_MAX) {
      const inside = inlineRun(tokens, at, tag, depth + 1);
      // A tag that is never closed is text, as everything after it is.
      made.push(inside.closed ? h(tag, {}, inside.made) : [token.raw, inside.made]);
      at = inside.next;
    } else made.push(inlineOne(token, depth));
  }
  return { made, next: at, closed: false };
}

function inlineOne(token: Token, depth: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens, depth + 1)}</strong>;
    case "em":
      return <em>{inline(token.tokens, depth + 1)}</em>;
    case "del":
      return <del>{inline(token.tokens, depth + 1)}</del>;
    case "codespan":
      return <code dir="ltr">{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Link href={token.href} label={token.text}>
          {inline(token.tokens, depth + 1)}
        </Link>
      );
    case "image":
      return picture(token as Tokens.Image);
    case "text":
      return token.tokens ? inline(token.tokens, depth + 1) : decodeEntities(token.text);
    case "escape":
      return token.text;
    case "checkbox":
      return null;
    default:
      return token.raw;
  }
}

function picture(token: Tokens.Image): ComponentChildren {
  const inside = /^data:(image\/[\w+.-]+);base64,(.*)$/s.exec(token.href);
  const address = inside && mediaAddress("image", inside[1], inside[2]);
  if (address) return <img src={address} alt={token.text} class="picture" />;
  const words = token.text || "picture";
  return (
    <Link href={token.href} label={words}>
      <Icon name="picture" /> {words}
    </Link>
  );
}
