/** The options of a session in the order of the agent, which is their order of importance.
 *
 * A report replaces the whole list.  An option of category "mode" is also shown as the modes.
 */

import type { UnknownVariant } from "./blocks.ts";
import type { Choice, ConfigOption, Modes } from "./session_facts.ts";
import { stringsOf } from "./unknown_variants.ts";

interface OptionFields {
  configId: string;
  name: string;
  description?: string | null;
  category?: string | null;
}

interface Entry {
  name: string;
  value?: string;
  description?: string | null;
  groupId?: string;
  options?: { value: string; name: string; description?: string | null }[];
}

export type ReceivedOption =
  | ({ type: "select"; currentValue: string; options: Entry[] } & OptionFields)
  | ({ type: "boolean"; currentValue: boolean } & OptionFields)
  | UnknownVariant;

// The type of an option of an agent of the 2026-02 draft, which may have any JSON value.
const ANY_VALUE = "any";
const NO_MODES: Modes = { current: null, available: [] };

export class ConfigOptions {
  items: readonly ConfigOption[] = [];
  modes: Modes = NO_MODES;
  private areModesOfOption = false;

  /** Take the complete list. */
  replace(items: readonly ConfigOption[]): void {
    this.items = items;
    const option = items.find((item) => item.category === "mode" && item.choices.length > 0);
    if (option !== undefined) {
      this.areModesOfOption = true;
      const available = option.choices.map(({ value, name, description }) => ({
        modeId: value,
        name,
        description,
      }));
      this.modes = { current: option.value as string, available };
    } else if (this.areModesOfOption) {
      this.areModesOfOption = false;
      this.modes = NO_MODES;
    }
  }

  /** An option has another value now; the rest of the list is as it was. */
  choose(optionId: string, value: unknown): void {
    this.replace(
      this.items.map((item) => (item.optionId === optionId ? { ...item, value } : item)),
    );
  }

  chooseMode(modeId: string): void {
    this.modes = { ...this.modes, current: modeId };
  }
}

export function optionOf(received: ReceivedOption): ConfigOption {
  if (received.type === "unknown") return unknownOption(received);
  return {
    optionId: received.configId,
    name: received.name,
    type: received.type,
    value: received.currentValue,
    choices: received.type === "select" ? received.options.flatMap(choicesOf) : [],
    description: received.description ?? null,
    category: received.category ?? null,
  };
}

function choicesOf(entry: Entry): Choice[] {
  if (entry.value !== undefined) {
    const { value, name, description = null } = entry;
    return [{ value, name, description, groupId: null, groupName: null }];
  }
  return (entry.options ?? []).map(({ value, name, description = null }) => ({
    value,
    name,
    description,
    groupId: entry.groupId ?? null,
    groupName: entry.name,
  }));
}

/** An option that can only be shown. */
function unknownOption(variant: UnknownVariant): ConfigOption {
  const fields = stringsOf(variant.received);
  const optionId = fields.get("configId") ?? "";
  const option = { optionId, type: "unknown", choices: [], description: null } as const;
  if (variant.tag !== ANY_VALUE) {
    return { ...option, name: fields.get("name") ?? optionId, value: null, category: null };
  }
  const value = (variant.received as { currentValue?: unknown }).currentValue ?? null;
  return { ...option, name: optionId, value, category: fields.get("category") ?? null };
}
