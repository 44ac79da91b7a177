/* One field of a form: the control that fits it, with its label, hint and problem. */

import { useId } from "preact/hooks";

import { titleText, visibleText } from "../../content/visible_text.ts";
import type { Choice, Entry, Field } from "./form_schema.ts";

/** Up to this many choices are shown at once, more in a list that opens. */
const RADIOS_MAX = 5;

interface Props {
  field: Field;
  entry: Entry;
  problem: string | null;
  onEntry(entry: Entry): void;
}

interface ControlProps extends Props {
  id: string;
  /** The ids of hint and problem. */
  describedBy: string | undefined;
}

export function FormField(props: Props) {
  const { field, problem } = props;
  const id = useId();
  const hint = hintOf(field);
  const describedBy = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ") || undefined;
  const group = field.kind === "choices" || (field.kind === "choice" && field.choices.length <= RADIOS_MAX);
  const control = <Control {...props} id={id} describedBy={describedBy} />;
  const notes = (
    <>
      {hint && (
        <p id={`${id}-hint`} class="soft field-hint" dir="auto">
          {hint}
        </p>
      )}
      {problem && (
        <p id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  if (group) {
    return (
      <fieldset class="field" aria-describedby={describedBy}>
        <legend>
          <Label field={field} />
        </legend>
        {control}
        {notes}
      </fieldset>
    );
  }
  return (
    <div class={`field ${field.kind}`}>
      {field.kind === "toggle" && control}
      <label for={id}>
        <Label field={field} />
      </label>
      {field.kind !== "toggle" && control}
      {notes}
    </div>
  );
}

function Label({ field }: { field: Field }) {
  return (
    <>
      <span dir="auto">{titleText(field.label)}</span>
      {field.required && field.kind !== "toggle" && <span class="soft"> (required)</span>}
    </>
  );
}

function hintOf(field: Field): string | null {
  const said = field.description === null ? null : visibleText(field.description);
  const bounds =
    field.kind === "number" ? rangeText(field.minimum, field.maximum) : field.kind === "choices" ? countText(field.minItems, field.maxItems) : null;
  return [said, bounds].filter((text) => text !== null).join(" ") || null;
}

function rangeText(least: number | null, most: number | null): string | null {
  if (least !== null && most !== null) return `From ${least} to ${most}.`;
  return least !== null ? `At least ${least}.` : most !== null ? `At most ${most}.` : null;
}

function countText(least: number | null, most: number | null): string | null {
  if (least !== null && most !== null) return least === most ? `Choose ${least}.` : `Choose ${least} to ${most}.`;
  return least ? `Choose at least ${least}.` : most !== null ? `Choose at most ${most}.` : null;
}

function Control(props: ControlProps) {
  const { field, entry, onEntry, id, describedBy, problem } = props;
  const common = { id, "aria-describedby": describedBy, "aria-invalid": problem !== null, "aria-required": field.required };
  switch (field.kind) {
    case "toggle":
      return (
        <input
          type="checkbox"
          id={id}
          aria-describedby={describedBy}
          checked={entry === true}
          onChange={(event) => onEntry(event.currentTarget.checked)}
        />
      );
    case "number":
      return (
        <input
          {...common}
          type="text"
          inputMode={field.integer && (field.minimum ?? -1) >= 0 ? "numeric" : "decimal"}
          value={String(entry)}
          onInput={(event) => onEntry(event.currentTarget.value)}
        />
      );
    case "text":
      return <TextControl {...props} />;
    case "choice":
      return field.choices.length <= RADIOS_MAX ? (
        <Options {...props} type="radio" choices={field.choices} />
      ) : (
        <select {...common} value={String(entry)} onChange={(event) => onEntry(event.currentTarget.value)}>
          <option value="">Choose…</option>
          {field.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {titleText(choice.title)}
            </option>
          ))}
        </select>
      );
    case "choices":
      return <Options {...props} type="checkbox" choices={field.choices} />;
    case "unknown":
      return (
        <p id={id} class="soft">
          This page cannot show a field of type {titleText(field.type)}.
        </p>
      );
  }
}

const INPUT_TYPES: Record<string, "email" | "url" | "date" | "datetime-local"> = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };
/** A text that may be longer gets several lines. */
const ONE_LINE_CHARS = 200;

function TextControl({ field, entry, onEntry, id, describedBy, problem }: ControlProps) {
  if (field.kind !== "text") return null;
  const common = { id, "aria-describedby": describedBy, "aria-invalid": problem !== null, "aria-required": field.required, value: String(entry) };
  if (field.format === null && field.pattern === null && (field.maxLength ?? 0) > ONE_LINE_CHARS) {
    return <textarea {...common} rows={4} onInput={(event) => onEntry(event.currentTarget.value)} />;
  }
  const type = INPUT_TYPES[field.format ?? ""] ?? "text";
  // The types of Preact know one kind of input at a time.
  return <input {...common} type={type as "text"} autoComplete="off" onInput={(event) => onEntry(event.currentTarget.value)} />;
}

function Options({ id, choices, entry, onEntry, type }: ControlProps & { choices: readonly Choice[]; type: "radio" | "checkbox" }) {
  const chosen: readonly string[] = Array.isArray(entry) ? entry : [String(entry)];
  const change = (value: string, on: boolean): void => {
    if (type === "radio") return onEntry(value);
    onEntry(choices.map((choice) => choice.value).filter((each) => (each === value ? on : chosen.includes(each))));
  };
  return (
    <div class="options">
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type={type}
            name={id}
            checked={chosen.includes(choice.value)}
            onChange={(event) => change(choice.value, event.currentTarget.checked)}
          />
          <span>
            <span dir="auto">{titleText(choice.title)}</span>
            {choice.description && (
              <span class="soft" dir="auto">
                {" "}
                {visibleText(choice.description)}
              </span>
            )}
          </span>
        </label>
      ))}
    </div>
  );
}
