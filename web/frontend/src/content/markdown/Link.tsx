/* A link of an agent: its words may lie, so its whole address is shown before it opens.

   The address appears on hover and focus. A finger cannot hover, so the first tap shows the
   address, and a tap on the address opens it. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { safeAddress } from "../safe_links.ts";

const NEW_TAB = { target: "_blank", rel: "noopener noreferrer" } as const;

export function Link({
  href,
  label,
  children,
}: {
  href: string;
  label: string;
  children: ComponentChildren;
}) {
  const address = safeAddress(href);
  const [shown, setShown] = useState(false);
  const wasShown = useRef(true);
  const id = useId();
  if (address === null) {
    return (
      <span class="link-refused">
        {children}
        {label.trim() === href.trim() ? null : (
          <span class="link-address"> ({href.slice(0, 200)})</span>
        )}
      </span>
    );
  }
  if (isFullAddress(label, address)) {
    return (
      <a href={address} {...NEW_TAB} class="link-full">
        {address}
      </a>
    );
  }
  const show = () => setShown(true);
  const hide = () => setShown(false);
  return (
    <span class="link" onMouseEnter={show} onMouseLeave={hide} onFocusIn={show} onFocusOut={hide}>
      <a
        href={address}
        {...NEW_TAB}
        aria-describedby={shown ? id : undefined}
        onPointerDown={(event) => {
          wasShown.current = shown || event.pointerType === "mouse";
        }}
        onClick={(event) => {
          if (!wasShown.current) event.preventDefault();
          wasShown.current = true;
          setShown(true);
        }}
      >
        {children}
      </a>
      {shown ? <Bubble id={id} address={address} /> : null}
    </span>
  );
}

const EDGE_PIXELS = 8;

function Bubble({ id, address }: { id: string; address: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const bubble = element.current!;
    const view = bubble.closest(".list-view") ?? document.documentElement;
    const over =
      bubble.getBoundingClientRect().right - view.getBoundingClientRect().right + EDGE_PIXELS;
    if (over > 0) bubble.style.transform = `translateX(${-over}px)`;
  }, []);
  return (
    <span class="link-bubble" role="tooltip" id={id} dir="ltr" ref={element}>
      {/* Keep the focus on the link: without it the bubble would go before the tap ends. */}
      <a
        href={address}
        {...NEW_TAB}
        tabIndex={-1}
        onPointerDown={(event) => event.preventDefault()}
      >
        {address}
      </a>
    </span>
  );
}

function isFullAddress(label: string, address: string): boolean {
  const words = label.trim();
  return words === address || `${words}/` === address || `mailto:${words}` === address;
}
