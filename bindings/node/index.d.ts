/**
 * A guard between language models and their tools: calls are validated, repaired and explained.
 * The guide is docs/node.md.
 */

import type { ToolDefinition } from './lib/tool';
export * from './lib/tool';

/** JSON, with BigInts for integers that a number cannot hold. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** The providers whose calls, results and tools are known. */
export type Provider = 'openai_chat' | 'openai_responses' | 'anthropic' | 'gemini' | 'mcp';

/** How failures are worded for the model. */
export type Style = 'instruction' | 'numbered' | 'json' | 'tool_error';

/** The highest grade of repair that is applied. */
export type Repair = 'none' | 'lossless' | 'lossy' | 'guess' | 'by_effect';

export type Grade = 'lossless' | 'lossy' | 'guess';

/** What a tool does to the world. */
export type Effect = 'unknown' | 'read' | 'write' | 'destructive';

/** What the model should do next. */
export type Next =
  | 'fix_arguments'
  | 'retry_same'
  | 'retry_later'
  | 'change_approach'
  | 'continue'
  | 'ask_user'
  | 'stop';

/** Tools in any provider's shape: a list, an object that holds one, the text of either, or tools of `tool()`. */
export type Tools = string | object | readonly (object | ToolDefinition<any, any>)[];

/** A call line, or a provider's call: as an object or as text. */
export type CallInput = string | object;

export interface Steps {
  notice?: number | false;
  refuse?: number | false;
}

/** The keys of a policy file: docs/policy.md. */
export interface Policy {
  validate?: 'strict' | 'warn' | 'off';
  repair?: Repair;
  budget?: number | { unknown?: number; read?: number; write?: number };
  attended?: boolean;
  timeout?: number | string;
  retries?: number;
  concurrency?: number;
  output?: 'strict' | 'warn' | 'off' | { [key: string]: unknown };
  advice?: { [classOrCode: string]: string | string[] };
  check?: object[];
  loops?: { [key: string]: unknown };
  tool?: { [nameOrPattern: string]: { [key: string]: unknown } };
}

export interface GateOptions {
  /** The path of a policy file, or its keys as an object. */
  policy?: string | Policy;
  /** The text of a policy file. */
  policyText?: string;
  /** The highest grade of repair, instead of what the policy says. */
  repair?: Repair;
  style?: Style;
  /** Whether the model is told about every correction, or about none; if absent, about those that are more than lossless. */
  receipts?: boolean;
  /** By tool, what you declare it to do, whatever the tool says of itself. */
  effects?: { [tool: string]: Effect };
  /** Thresholds for repeated calls, in part, as the core names them. */
  admission?: { [key: string]: unknown };
  /** The longest text of arguments that is read, in bytes. */
  maxBytes?: number;
  /** How deeply arguments may be nested. */
  maxDepth?: number;
  /** How many sessions are remembered in this process. */
  sessions?: number;
  /**
   * Where sessions are remembered instead: the address of a Redis or Valkey server, `redis://host:6379`; or another gate, whose
   * sessions go on under these tools.
   */
  ledger?: string | Gate;
  /** A file to which every event is appended as a line of JSON; `callwright replay` reads it. */
  record?: string | { path: string; values?: 'all' | 'masked' | 'none' };
  /** Whether events hold what tools answered. */
  keepOutput?: boolean;
  /** Functions that get events. What they throw becomes a warning of the process. */
  on?: { [Name in EventName]?: (event: CallEvent) => unknown };
  /**
   * What becomes of integers beyond 2^53 in arguments: `bigint` (the default), `text` (their digits), or `number`, which
   * rounds them as `JSON.parse` does.
   */
  largeIntegers?: 'bigint' | 'text' | 'number';
}

export type EventName =
  | 'any'
  | 'error'
  | 'refused'
  | 'repaired'
  | 'toolExecuted'
  | 'toolFailed'
  | 'outputRefused'
  | 'outputPartial'
  | 'warning'
  | 'notice';

/** One record per call: docs/events.md. */
export interface CallEvent {
  v: 1;
  time: string;
  session: string | null;
  tool: string;
  fingerprint: string | null;
  verdict: VerdictName;
  edits: Edit[];
  failure?: Failure;
  [member: string]: unknown;
}

export type VerdictName = 'valid' | 'repaired' | 'refused' | 'unjudged';

/** One repair. */
export interface Edit {
  path: string;
  rule: string;
  grade: Grade;
  before: Json;
  after: Json;
}

export interface Issue {
  path: string;
  code: string;
  expected: string;
  received: string;
  message: string;
  suggestion: string | null;
}

/** Why a call or a result was refused: docs/codes.md. */
export interface Failure {
  class: string;
  code: string;
  next: Next;
  detail: string;
  hint: string;
  issues: Issue[];
}

/** The verdict line of the contract: what `callwright check --format json` prints. */
export interface VerdictLine {
  id?: Json;
  tool: string;
  verdict: VerdictName;
  rescued?: string;
  arguments?: JsonObject;
  edits: Edit[];
  failure?: Failure;
  feedback?: string;
  warning?: Failure;
  notice?: { code: string; detail: string };
  output_verdict?: 'ok' | 'refused';
  output_failure?: Failure;
  output_feedback?: string;
  output_warning?: Failure;
  output_notes?: string[];
}

/** The verdict on one call. */
export declare class Verdict<Args = JsonObject> {
  private constructor();
  readonly verdict: VerdictName;
  /** Whether the call may run. */
  readonly ok: boolean;
  /** The tool; of a repaired call the one that was meant. */
  readonly tool: string;
  readonly id: Json | undefined;
  /**
   * The arguments to run the tool with. Those that were sent as an object and are valid are that very object. Of a refused
   * call it is what the model sent, if it could be read.
   */
  readonly arguments: Args;
  readonly edits: Edit[];
  readonly failure: Failure | undefined;
  /** What to tell the model, if the call was refused. */
  readonly feedback: string | undefined;
  /** What the schema objects to, where the policy lets the call through all the same. */
  readonly warning: Failure | undefined;
  readonly rescued: string | undefined;
  /** The verdict line, as text. */
  readonly line: string;
  toJSON(): VerdictLine;
  /** In a provider's shape: a call that may run as the call it is, a refused one as its tool result. */
  render(provider: Provider): JsonObject;
}

/** Where in a conversation a call is made. */
export interface Place {
  /** The conversation. */
  session?: string | number;
  /** Which message of the user's is being answered. */
  turn?: number | string;
  /** Which answer of the model the call is part of; parallel calls share one. */
  round?: number | string;
}

/** How a tool failed, for `ticket.fail`. */
export interface Failed {
  kind: 'reported' | 'transient' | 'internal' | 'panicked' | 'defect' | 'cancelled' | 'not_started' | 'timed_out';
  code?: string;
  detail?: string;
  hint?: string;
  recommendations?: string[];
  next?: Next;
  /** What only the operator should know. */
  for_operator?: string;
  after_ms?: number;
  retry_after_ms?: number;
}

/** What a check of yours found in a result. */
export interface Finding {
  class: 'schema_mismatch' | 'partial_data' | 'semantic_garbage';
  code: string;
  detail: string;
  hint?: string;
  next?: Next;
}

export interface About {
  /** Whether the output is the tool's own account of its failure. */
  isError?: boolean;
  finding?: Finding;
  /** How often the tool's function was started; 1 if absent. */
  attempts?: number;
  /** How long it ran; since the call was opened if absent. */
  latencyMs?: number;
}

/** A call that asked to run. */
export declare class Ticket<Args = JsonObject> {
  private constructor();
  /** Whether it may run. If not, `settled` is what the model gets. */
  readonly ok: boolean;
  readonly tool: string;
  /** The arguments to run it with: the very object that came in, if nothing was changed. */
  readonly arguments: Args;
  /** The identity of the call: the same for the same tool and arguments. */
  readonly fingerprint: string | undefined;
  readonly settled: Settled | undefined;
  /** Ends the call with what the tool answered. A refused call stays what it is. */
  close(output?: unknown, about?: About): Settled;
  fail(failed: Failed, about?: About): Settled;
  closeAsync(output?: unknown, about?: About): Promise<Settled>;
  failAsync(failed: Failed, about?: About): Promise<Settled>;
  /** Ends the call without an outcome: it goes on elsewhere. */
  abandon(): Settled;
}

/** A call that is over: refused, or with its outcome judged. */
export declare class Settled {
  private constructor();
  /** What the model gets, as one text. */
  readonly text: string;
  readonly isError: boolean;
  readonly presented: { is_error: boolean; content: 'kept' | 'cut' | 'withheld'; shown: string | null; note: string | null };
  /** Of a call that was refused because of what came before it: its identity, for the user's answer. */
  readonly question: string | undefined;
  readonly line: string;
  /** The tool result in a provider's shape. */
  message(provider: Provider): JsonObject;
  toJSON(): VerdictLine;
}

export interface Rescued {
  calls: Verdict[];
  /** The text before the calls; `undefined` if there are none. */
  rest: string | undefined;
  /** Why the message is not a call. */
  noCall: string | undefined;
  why: string | undefined;
}

export interface GateTool {
  name: string;
  description: string | null;
  effect: Effect;
  idempotent: boolean;
  /** Why its schema cannot be used; its calls are `unjudged`. */
  quarantined: string | null;
  input_schema: object | null;
  output_schema: object | null;
}

/** Knows a set of tools and judges calls of them. */
export declare class Gate {
  constructor(tools: Tools, options?: GateOptions);
  /** Judges a call by itself: a call line, or a provider's call. */
  judge(call: CallInput): Verdict;
  /** Judges a call by the name of its tool and its arguments, as text or as an object. */
  judge<Args extends object = JsonObject>(tool: string, args: string | Args): Verdict<Args>;
  /** Takes calls out of a message in which the model wrote them as text, and judges them. */
  rescue(message: string | object): Rescued;
  /** The same for a line of a log that holds a message. */
  rescueLine(line: string): Rescued;
  /**
   * Judges a call and asks whether it may run now. `objections` is what your own types object to in arguments that the schema
   * accepts: such a call is refused with them.
   */
  open(call: CallInput, place?: Place, objections?: { path: string; message: string }[]): Ticket;
  /** The same without holding up the event loop: for sessions on a server. */
  openAsync(call: CallInput, place?: Place, objections?: { path: string; message: string }[]): Promise<Ticket>;
  /** Whether sessions are on a server, so that `openAsync` and `closeAsync` are needed. */
  readonly waits: boolean;
  /** A user's answer to a question that a refusal asked. */
  answer(session: string, reply: 'stop' | { allowOnce: string } | { allowTool: string }): Promise<void>;
  readonly tools: GateTool[];
  /** The tools as a provider's API takes them. */
  declare(provider: Provider): JsonObject[];
  /** What the policy says about a tool. */
  settings(tool: string): { [key: string]: unknown };
  readonly admission: { [key: string]: unknown };
  /** Problems worth a look: tools in quarantine, names in the policy that match no tool. */
  readonly warnings: string[];
  /** Waits until the events so far are handed over; `false` if that took too long. */
  flush(timeoutMs?: number): Promise<boolean>;
  readonly sinkStats: {
    name: string;
    delivered: number;
    dropped: number;
    failed: number;
    waiting: number;
    last_error: string | null;
  }[];
}

export interface Answer {
  calls: ({ id: Json; tool: string; arguments: Json; completeness: string } | { error: string })[];
  hosted: { tool: string; output: Json }[];
  text: string | null;
  message_id: Json;
  completeness: 'unknown' | 'complete' | 'doubtful' | 'cut_off';
}

/** The calls and texts in a provider's whole response, one answer for each choice. */
export declare function readAnswer(body: string | object): Answer[];

/** What a request, or its list of messages, holds; and the tools whose calls have no result yet. */
export declare function readHistory(request: string | object): {
  entries: ('user' | Answer | { id: Json; tool: string | null; output: Json; is_error: boolean } | { tools: Json[] })[];
  unanswered: string[];
};

export interface ReplayOptions {
  /** The tools; those that the log itself shows if absent. */
  tools?: Tools;
  policy?: string | Policy;
  policyText?: string;
  /** What examples name as the file of records. */
  name?: string;
  /** The id of this part of a log: a part counts once, however often it is merged. */
  part?: string;
}

/** What a replay counted: it merges with that of other parts. */
export declare class Summary {
  private constructor();
  static fromBytes(bytes: Uint8Array): Summary;
  /** Packed, for another process or for later. */
  toBytes(): Uint8Array;
  /** Adds what another part has counted, in any order. */
  merge(other: Summary): this;
  /** What `callwright replay --format json` prints. */
  report(): Promise<{ [member: string]: unknown }>;
}

/** Judges and counts recorded traffic: a path, `{ paths }`, or an iterable of records as texts or objects. */
export declare function replay(
  source: string | { paths: string[] } | Iterable<string | object> | AsyncIterable<string | object>,
  options?: ReplayOptions,
): Promise<Summary>;

/** Your own fault or ours: a bad tool file, an unknown option, a call that is not one. A refused call is a verdict. */
export declare class CallwrightError extends Error {}

/** Thrown by a tool that worked and says that it cannot do this. Its own words go to the model. */
export declare class ToolError extends Error {
  constructor(
    code: string,
    detail: string,
    options?: { hint?: string; recommendations?: string[]; next?: Next; cause?: unknown },
  );
  readonly code: string;
}

/** Thrown by a tool whose failure passes by itself. */
export declare class TransientError extends Error {
  constructor(detail: string, options?: { retryAfterMs?: number; code?: string; cause?: unknown });
}
