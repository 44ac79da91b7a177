/* One content block of any type; what is not known is shown as it came. */

import { useRef } from "preact/hooks";
import type { ContentBlock, ResourceBlock, ResourceLinkBlock } from "../transcript/items.ts";
import { Code } from "./Code.tsx";
import { Link } from "./markdown/Link.tsx";
import { Markdown } from "./markdown/Markdown.tsx";
import { Icon } from "./icons.tsx";
import { languageOfPath } from "./highlight.ts";
import { mediaAddress, safeAddress } from "./safe_links.ts";
import { asText, prettyJson, sizeText, titleText } from "./visible_text.ts";

export function ContentBlockView({
  block,
  breaks = false,
}: {
  block: ContentBlock;
  breaks?: boolean;
}) {
  switch (block.type) {
    case "text":
      return <Markdown text={asText(block.text)} breaks={breaks} />;
    case "image":
      return <Picture mimeType={block.mimeType} data={block.data} uri={block.uri ?? null} />;
    case "audio":
      return <Sound mimeType={block.mimeType} data={block.data} />;
    case "resource_link":
      return <ResourceLink link={block} />;
    case "resource":
      return <Resource resource={block.resource} />;
    default:
      return <Unknown name={`content "${titleText(block.tag)}"`} value={block.received} />;
  }
}

/** What the page does not know: its name, and all of it on demand. */
export function Unknown({ name, value }: { name: string; value: unknown }) {
  return (
    <details class="unknown">
      <summary>Unknown {name}</summary>
      <pre tabIndex={0} dir="ltr">
        {prettyJson(value)}
      </pre>
    </details>
  );
}

function Picture({
  mimeType,
  data,
  uri,
  name = "Picture",
}: {
  mimeType: unknown;
  data: unknown;
  uri: string | null;
  name?: string;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const address = mediaAddress("image", mimeType, data);
  if (address === null || data === "") {
    return uri ? (
      <p>
        <Link href={uri} label={name}>
          {titleText(uri)}
        </Link>
      </p>
    ) : (
      <Refused what={`picture of type ${titleText(mimeType, "unknown")}`} />
    );
  }
  const close = () => dialog.current?.close();
  return (
    <figure class="picture-frame">
      <button
        type="button"
        class="quiet"
        aria-label={`${name}: show in full size`}
        onClick={() => dialog.current?.showModal()}
      >
        <img
          src={address}
          alt={uri ? `${name} ${titleText(uri)}` : name}
          class="picture"
          loading="lazy"
        />
      </button>
      <dialog ref={dialog} class="picture-dialog" aria-label={name} onClick={close}>
        <img src={address} alt={name} />
        <button type="button" onClick={close}>
          Close
        </button>
      </dialog>
    </figure>
  );
}

function Sound({ mimeType, data }: { mimeType: unknown; data: unknown }) {
  const address = mediaAddress("audio", mimeType, data);
  if (address === null) return <Refused what={`sound of type ${titleText(mimeType, "unknown")}`} />;
  return <audio controls preload="metadata" src={address} aria-label="Sound" />;
}

function Refused({ what }: { what: string }) {
  return <p class="soft">A {what} that this page cannot show.</p>;
}

function ResourceLink({ link }: { link: ResourceLinkBlock }) {
  const facts = [
    link.mimeType ? titleText(link.mimeType) : "",
    typeof link.size === "number" ? sizeText(link.size) : "",
  ];
  const name = titleText(link.title || link.name, "Resource");
  const uri = asText(link.uri);
  return (
    <div class="resource">
      <Icon name="link" />
      <div>
        <div class="resource-name">
          {safeAddress(uri) ? (
            <Link href={uri} label={name}>
              {name}
            </Link>
          ) : (
            name
          )}
        </div>
        {link.description ? (
          <div class="soft" dir="auto">
            {titleText(link.description)}
          </div>
        ) : null}
        <div class="soft small mono path" dir="ltr">
          {titleText(shownPath(uri))}
        </div>
      </div>
      <span class="soft small facts">{facts.filter(Boolean).join(" · ")}</span>
    </div>
  );
}

function Resource({ resource }: { resource: ResourceBlock["resource"] }) {
  const path = shownPath(asText(resource?.uri));
  const type = asText(resource?.mimeType);
  if (typeof resource?.text === "string") {
    return (
      <details class="resource-text">
        <summary>
          <span class="mono path">{titleText(path, "Attached text")}</span>{" "}
          <span class="soft small">{sizeText(resource.text.length)}</span>
        </summary>
        {type === "text/markdown" ? (
          <Markdown text={resource.text} />
        ) : (
          <Code code={resource.text} info={languageOfPath(path) ?? undefined} />
        )}
      </details>
    );
  }
  if (mediaAddress("image", type, resource?.blob))
    return (
      <Picture mimeType={type} data={resource.blob} uri={null} name={titleText(path, "Picture")} />
    );
  if (mediaAddress("audio", type, resource?.blob))
    return <Sound mimeType={type} data={resource.blob} />;
  const size = sizeText(Math.floor((asText(resource?.blob).length * 3) / 4));
  return (
    <div class="resource">
      <Icon name="data" />
      <span class="mono path">{titleText(path, "Attached data")}</span>
      <span class="soft small facts">{[titleText(type), size].filter(Boolean).join(" · ")}</span>
    </div>
  );
}

/** The path of a `file:` address, and every other address as it is. */
export function shownPath(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  try {
    return decodeURIComponent(uri.slice("file://".length));
  } catch {
    return uri;
  }
}
