/* What can be set in a session: its mode, its model and other options of the agent. */

import { useId, useRef, useState } from "preact/hooks";

import type { OpenSession } from "../client/types.ts";
import { titleText, visibleText } from "../content/visible_text.ts";
import { Dialog } from "../shell/Dialog.tsx";
import { Icon } from "../shell/Icon.tsx";
import type { Choice, ConfigOption } from "../transcript/session_facts.ts";
import { messageOf } from "./send_prompt.ts";

/** What people change often stands beside the prompt, and the rest in a dialog with its names. */
const OFTEN: ReadonlySet<string | null> = new Set(["mode", "model", "thought_level"]);

export function Pickers({ session }: { session: OpenSession }) {
  const [isOpen, setOpen] = useState(false);
  const modes = session.transcript.modes.value;
  const options = session.transcript.configOptions.value;
  // Agents that have modes as options as well report both.
  const ownModes = options.some((option) => option.category === "mode") ? [] : modes.available;
  const modeChoices = ownModes.map((mode) => ({ ...NO_GROUP, value: mode.modeId, name: mode.name, description: mode.description }));
  const rest = options.filter((option) => !OFTEN.has(option.category) && option.type !== "unknown");
  const attempt = (change: Promise<void>): Promise<void> =>
    change.catch((error: unknown) => void (session.problem.value = messageOf(error)));
  const picker = (option: ConfigOption) => (
    <OptionPicker key={option.optionId} option={option} onChoose={(value) => attempt(session.setOption(option.optionId, value))} />
  );
  return (
    <div class="pickers">
      {modeChoices.length > 0 && (
        <Picker name="Mode" description={null} value={modes.current ?? ""} choices={modeChoices} onChoose={(id) => attempt(session.setMode(id))} />
      )}
      {options.filter((option) => OFTEN.has(option.category)).map(picker)}
      {rest.length > 0 && (
        <button type="button" class="quiet icon" aria-label="More options" title="More options" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          <Icon name="options" />
        </button>
      )}
      {isOpen && (
        <Dialog title="Options of this session" onClose={() => setOpen(false)}>
          <div class="option-list">
            {rest.map((option) => (
              <div key={option.optionId}>
                {picker(option)}
                {option.description && (
                  <p class="soft" dir="auto">
                    {visibleText(option.description)}
                  </p>
                )}
              </div>
            ))}
          </div>
        </Dialog>
      )}
    </div>
  );
}

const NO_GROUP = { groupId: null, groupName: null };

function OptionPicker({ option, onChoose }: { option: ConfigOption; onChoose(value: unknown): Promise<void> }) {
  if (option.type === "boolean") {
    return (
      <label class="picker toggle" title={titleText(option.description)}>
        <input type="checkbox" checked={option.value === true} onChange={(event) => void onChoose(event.currentTarget.checked)} />
        <span>{titleText(option.name)}</span>
      </label>
    );
  }
  if (option.type !== "select") return null;
  return <Picker name={option.name} description={option.description} value={String(option.value)} choices={option.choices} onChoose={onChoose} />;
}

interface PickerProps {
  name: string;
  description: string | null;
  value: string;
  choices: readonly Choice[];
  onChoose(value: string): Promise<void>;
}

function Picker({ name, description, value, choices, onChoose }: PickerProps) {
  const id = useId();
  const latest = useRef(value);
  latest.current = value;
  const chosen = choices.find((choice) => choice.value === value);
  const title = [name, chosen?.description ?? description].filter(Boolean).map((text) => titleText(text)).join(": ");
  return (
    <span class="picker" title={title}>
      <label class="picker-name" for={id}>
        {titleText(name)}
      </label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) =>
          // What the agent refused is taken back.
          void onChoose(currentTarget.value).finally(() => (currentTarget.value = latest.current))
        }
      >
        {chosen === undefined && <option value={value}>{titleText(value, "Not set")}</option>}
        {groupsOf(choices).map(([group, members]) =>
          group === null ? (
            members.map((choice) => <ChoiceOption key={choice.value} choice={choice} />)
          ) : (
            <optgroup key={group} label={titleText(group)}>
              {members.map((choice) => (
                <ChoiceOption key={choice.value} choice={choice} />
              ))}
            </optgroup>
          ),
        )}
      </select>
    </span>
  );
}

const ChoiceOption = ({ choice }: { choice: Choice }) => (
  <option value={choice.value} title={titleText(choice.description)}>
    {titleText(choice.name, choice.value)}
  </option>
);

function groupsOf(choices: readonly Choice[]): [string | null, Choice[]][] {
  const groups = new Map<string | null, Choice[]>();
  for (const choice of choices) {
    const name = choice.groupName ?? choice.groupId;
    groups.set(name, [...(groups.get(name) ?? []), choice]);
  }
  return [...groups];
}
