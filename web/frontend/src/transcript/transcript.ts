/** One view of everything that was said and done in a session: what its updates add up to.
 *
 * The same updates give the same transcript as Python's `accord.transcript.Transcript`; the files
 * in `tests/shared_conversations` show it.
 *
 * What always holds
 *   - `apply` never throws, whatever the agent sends.
 *   - The cost of an update does not depend on how much came before it.
 *   - Signals change at most once per animation frame.
 */

import { batch, signal, type Signal } from "@preact/signals";
import { Invalid } from "../wire/invalid.ts";
import { read, type Root } from "../wire/reader.ts";
import type { ContentBlock } from "./blocks.ts";
import type { ReceivedOption } from "./config_options.ts";
import { dumpView } from "./dump.ts";
import { CONVERSATION_FOLDS, toolCall, type Clock } from "./fold_conversation.ts";
import { SESSION_FOLDS, takeCommands, takeOptions } from "./fold_session.ts";
import { FrameBatch } from "./frame.ts";
import type {
  Command,
  ConfigOption,
  Item,
  Message,
  Modes,
  Plan,
  SessionInfo,
  SessionState,
  TerminalItem,
  ToolCall,
  Usage,
} from "./items.ts";
import type { Snapshot } from "./session_state.ts";
import type { ReceivedCommand, SessionUpdate, ToolCallPatch } from "./updates.ts";
import { View } from "./view.ts";

interface Setup {
  configOptions?: ReceivedOption[];
  availableCommands?: ReceivedCommand[];
  state?: Snapshot | null;
}

/** The answers that say something about a session. */
export type SetupRoot = Extract<
  Root,
  | "NewSessionResponse"
  | "ResumeSessionResponse"
  | "ForkSessionResponse"
  | "SetSessionConfigOptionResponse"
  | "SessionStatusResponse"
>;

const FOLDS = new Map<string, (view: View, update: never, clock: Clock) => unknown>(
  Object.entries({ ...CONVERSATION_FOLDS, ...SESSION_FOLDS }),
);

export class Transcript {
  readonly timeline: Signal<readonly Item[]> = signal([]);
  readonly commands: Signal<readonly Command[]>;
  readonly modes: Signal<Modes>;
  readonly configOptions: Signal<readonly ConfigOption[]>;
  readonly usage: Signal<Usage>;
  readonly info: Signal<SessionInfo>;
  readonly state: Signal<SessionState>;
  /** Why the last update that was refused was; such an update changes nothing. */
  refused: string | null = null;
  private readonly changed = new Set<Item>();
  private view: View;
  private arranged = 0;
  private isHidden = false;
  private readonly show = () => this.showChanges();

  /** Times of tool calls are noted by the clock; it says undefined while a history is read. */
  constructor(
    readonly frames: FrameBatch = new FrameBatch(),
    private readonly clock: Clock = () => undefined,
  ) {
    const view = (this.view = new View((item) => this.changed.add(item)));
    this.commands = signal(view.commands);
    this.modes = signal(view.options.modes);
    this.configOptions = signal(view.options.items);
    this.usage = signal(view.usage);
    this.info = signal(view.info);
    this.state = signal(view.state.shown);
  }

  /** Forget everything and read a history.  What is shown stays until `historyRead`. */
  readHistory(): void {
    this.view = new View((item) => this.changed.add(item));
    this.arranged = -1;
    this.isHidden = true;
  }

  /** The history is whole: show it at once. */
  historyRead(): void {
    this.isHidden = false;
    this.showChanges();
  }

  /** Whether a history is being read. */
  get isReadingHistory(): boolean {
    return this.isHidden;
  }

  /** Take one update as it came in `session/update`. */
  apply(update: unknown): void {
    const read = this.accept<SessionUpdate>("SessionUpdate", update);
    if (read === null) return;
    if (read.sessionUpdate === undefined) this.view.addUnknown(read);
    else FOLDS.get(read.sessionUpdate)?.(this.view, read as never, this.clock);
    this.frames.add(this.show);
  }

  /** Take the tool call that a permission request is about, before anybody is asked. */
  applyPermissionSubject(patch: unknown): ToolCall | null {
    const read = this.accept<ToolCallPatch>("ToolCallPatch", patch);
    if (read === null) return null;
    this.frames.add(this.show);
    return toolCall(this.view, read, this.clock);
  }

  /** Take the answer to a request that opens a session, asks for its status or sets an option. */
  sessionSetup(root: SetupRoot, result: unknown): void {
    const setup = this.accept<Setup>(root, result);
    if (setup === null) return;
    takeOptions(this.view, setup.configOptions);
    takeCommands(this.view, setup.availableCommands);
    // Updates may overtake the answer, so a state that one of them reported stands.
    if (root === "NewSessionResponse") this.view.state.assumeIdle();
    // An answer without a state does not mean that the session is idle.
    if (setup.state) this.view.state.report(setup.state);
    this.frames.add(this.show);
  }

  private accept<T>(root: Root, value: unknown): T | null {
    try {
      return read<T>(root, value);
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      this.refused = `${root}: ${error.message}`;
      return null;
    }
  }

  // What is found by its id

  toolCall(toolCallId: string): ToolCall | null {
    return this.view.toolCallsById.get(toolCallId) ?? null;
  }

  terminal(terminalId: string): TerminalItem | null {
    return this.view.terminalsById.get(terminalId) ?? null;
  }

  /** The plan that was reported last, or another one if that was removed. */
  get plan(): Plan | null {
    const { plans, latestPlanId } = this.view;
    return plans.get(latestPlanId) ?? [...plans.values()].at(-1) ?? null;
  }

  /** The state as of the last update, also before it is drawn. */
  get stateNow(): SessionState {
    return this.view.state.shown;
  }

  /** The options as of the last update. */
  get configOptionsNow(): readonly ConfigOption[] {
    return this.view.options.items;
  }

  /** The text of the first prompt; empty where there is none. */
  get firstPrompt(): string {
    const prompt = this.view.timeline.find(
      (item) => item.kind === "message" && item.role === "user",
    );
    return prompt === undefined ? "" : (prompt as Message).text;
  }

  /** Who wrote the newest prompt, as the gateway says; null where it says nothing. */
  get authorOfLastPrompt(): string | null {
    const isPrompt = (item: Item) => item.kind === "message" && item.role === "user";
    const prompt = this.view.timeline.findLast(isPrompt) as Message | undefined;
    const author = prompt?.meta["accord.author"] as { displayName?: unknown } | undefined;
    return typeof author?.displayName === "string" ? author.displayName : null;
  }

  // Prompts of ours

  /** Show a prompt of ours at once.  Its echo, if one comes, becomes the same message. */
  promptSent(blocks: readonly ContentBlock[]): Message {
    this.frames.add(this.show);
    return this.view.sendPrompt(blocks);
  }

  /** The agent's answer named the id of our prompt, before its echo or after it. */
  promptInserted(message: Message, messageId: string): void {
    this.view.namePrompt(message, messageId);
    this.frames.add(this.show);
  }

  /** Drop a prompt that the agent refused. */
  promptRejected(message: Message): void {
    this.view.discardMessage(message);
    this.frames.add(this.show);
  }

  // Turns

  /** What comes from here on belongs to a new turn. */
  turnStarted(): void {
    this.view.turnStart = this.view.toolCalls.length;
  }

  /** Mark the unfinished tool calls of this turn as cancelled, but those in the background. */
  turnCancelled(): ToolCall[] {
    const background = this.view.state.backgroundToolCalls;
    const calls = this.view.toolCalls
      .slice(this.view.turnStart)
      .filter((call) => !call.isFinal && !background.has(call.toolCallId));
    for (const call of calls) {
      call.cancelled = true;
      this.view.touch(call);
    }
    this.frames.add(this.show);
    return calls;
  }

  // Facts that the client knows, and no update reports

  /** The agent agreed to our value of an option and did not report the others. */
  optionSelected(optionId: string, value: unknown): void {
    this.view.options.choose(optionId, value);
    this.frames.add(this.show);
  }

  /** The agent agreed to our change of mode. */
  modeSelected(modeId: string): void {
    this.view.options.chooseMode(modeId);
    this.frames.add(this.show);
  }

  /** Everything as plain values, for tests and tools. */
  dump(): unknown {
    return dumpView(this.view);
  }

  private showChanges(): void {
    if (this.isHidden) return;
    const { view } = this;
    batch(() => {
      for (const item of this.changed) item.revision.value += 1;
      this.changed.clear();
      if (this.arranged !== view.arrangements) {
        this.arranged = view.arrangements;
        this.timeline.value = [...view.timeline];
      }
      this.commands.value = view.commands;
      this.modes.value = view.options.modes;
      this.configOptions.value = view.options.items;
      this.usage.value = view.usage;
      this.info.value = view.info;
      this.state.value = view.state.shown;
    });
  }
}
