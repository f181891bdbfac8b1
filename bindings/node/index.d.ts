/**
 * A guard between language models and their tools: calls are validated, repaired and explained.
 * The guide is docs/node.md.
 */

import type { ToolDefinition } from './lib/tool';
export * from './lib/tool';

/** JSON, with BigInts for integers that a number cannot represent. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** The supported providers. */
export type Provider = 'openai_chat' | 'openai_responses' | 'anthropic' | 'gemini' | 'mcp';

/** How failures are worded for the model. */
export type Style = 'instruction' | 'numbered' | 'json' | 'tool_error';

/** The highest repair grade that is applied. */
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

/**
 * Tools in any provider's format: a list, an object that contains one, the text of either, or tools made with `tool()`.
 */
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
  /** The highest repair grade, overriding the policy. */
  repair?: Repair;
  style?: Style;
  /** Whether the model is told about every correction, or about none; by default, about those that are not lossless. */
  receipts?: boolean;
  /** The effect of each tool as you declare it, overriding what the tool says. */
  effects?: { [tool: string]: Effect };
  /** Some of the thresholds for repeated calls, under the core's names. */
  admission?: { [key: string]: unknown };
  /** The longest arguments that are read, in bytes. */
  maxBytes?: number;
  /** How deeply arguments may be nested. */
  maxDepth?: number;
  /** How many sessions are kept in this process. */
  sessions?: number;
  /**
   * Where to store sessions instead: the address of a Redis or Valkey server, `redis://host:6379`; or another gate,
   * whose sessions continue with these tools.
   */
  ledger?: string | Gate;
  /** A file to which every event is appended as a line of JSON; `callwright replay` reads it. */
  record?: string | { path: string; values?: 'all' | 'masked' | 'none' };
  /** Whether events include the answers of tools. */
  keepOutput?: boolean;
  /** Event listeners. Errors they throw become process warnings. */
  on?: { [Name in EventName]?: (event: CallEvent) => unknown };
  /**
   * How integers beyond 2^53 in arguments are represented: `bigint` (the default), `text` (their digits), or `number`,
   * which rounds them as `JSON.parse` does.
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
  failure?: Failure | null;
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
  /** The tool; for a repaired call, the one that was meant. */
  readonly tool: string;
  readonly id: Json | undefined;
  /**
   * The arguments to run the tool with. If they were sent as an object and are valid, this is the same object. For a
   * refused call, this is what the model sent, if it could be read.
   */
  readonly arguments: Args;
  readonly edits: Edit[];
  readonly failure: Failure | undefined;
  /** The text for the model, if the call was refused. */
  readonly feedback: string | undefined;
  /** What the schema objects to, if the policy lets the call through anyway. */
  readonly warning: Failure | undefined;
  readonly rescued: string | undefined;
  /** The verdict line, as text. */
  readonly line: string;
  toJSON(): VerdictLine;
  /** In a provider's format: a call that may run as a call, a refused one as its tool result. */
  render(provider: Provider): JsonObject;
}

/** Where in a conversation a call is made. */
export interface Place {
  /** The conversation. */
  session?: string | number;
  /** The user message that is being answered. */
  turn?: number | string;
  /** The model answer that the call is part of; parallel calls share one. */
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
  /** Details for the operator only. */
  for_operator?: string;
  after_ms?: number;
  retry_after_ms?: number;
}

/** What your own check found in a result. */
export interface Finding {
  class: 'schema_mismatch' | 'partial_data' | 'semantic_garbage';
  code: string;
  detail: string;
  hint?: string;
  next?: Next;
}

export interface About {
  /** Whether the output is the tool's own description of its failure. */
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
  /** Whether it may run. If not, `settled` contains what the model gets. */
  readonly ok: boolean;
  readonly tool: string;
  /** The arguments to run it with: the same object that was passed in, if nothing was changed. */
  readonly arguments: Args;
  /** The call's identity: equal for the same tool and arguments. */
  readonly fingerprint: string | undefined;
  readonly settled: Settled | undefined;
  /** Ends the call with the tool's answer. A refused call stays refused. */
  close(output?: unknown, about?: About): Settled;
  fail(failed: Failed, about?: About): Settled;
  closeAsync(output?: unknown, about?: About): Promise<Settled>;
  failAsync(failed: Failed, about?: About): Promise<Settled>;
  /** Ends the call without an outcome: it continues elsewhere. */
  abandon(): Settled;
}

/** A finished call: refused, or with its outcome judged. */
export declare class Settled {
  private constructor();
  /** What the model gets, as one text. */
  readonly text: string;
  readonly isError: boolean;
  readonly presented: { is_error: boolean; content: 'kept' | 'cut' | 'withheld'; shown: string | null; note: string | null };
  /** For a call that was refused because of its history: its identity, for the user's answer. */
  readonly question: string | undefined;
  readonly line: string;
  /** The tool result in a provider's format. */
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
  /** Why its schema cannot be used, which makes its calls `unjudged`. */
  quarantined: string | null;
  input_schema: object | null;
  output_schema: object | null;
}

/** Judges calls of a set of tools. */
export declare class Gate {
  constructor(tools: Tools, options?: GateOptions);
  /** Judges a call by itself: a call line, or a provider's call. */
  judge(call: CallInput): Verdict;
  /** Judges a call by the name of its tool and its arguments, as text or as an object; `null` if the model sent none. */
  judge<Args extends object = JsonObject>(tool: string, args: string | Args | null): Verdict<Args>;
  /** Extracts calls that the model wrote into a message as text, and judges them. */
  rescue(message: string | object): Rescued;
  /** The same for a log line that contains a message. */
  rescueLine(line: string): Rescued;
  /**
   * Judges a call and asks whether it may run now. `objections` are the complaints of your own types about arguments
   * that the schema accepts: such a call is refused with them.
   */
  open(call: CallInput, place?: Place, objections?: { path: string; message: string }[]): Ticket;
  /** The same without blocking the event loop, for sessions on a server. */
  openAsync(call: CallInput, place?: Place, objections?: { path: string; message: string }[]): Promise<Ticket>;
  /** Whether sessions are on a server, so that `openAsync` and `closeAsync` are needed. */
  readonly waits: boolean;
  /** A user's answer to a question that a refusal asked. */
  answer(session: string, reply: 'stop' | { allowOnce: string } | { allowTool: string }): Promise<void>;
  readonly tools: GateTool[];
  /** The tools as a provider's API accepts them. */
  declare(provider: Provider): JsonObject[];
  /** What the policy says about a tool. */
  settings(tool: string): { [key: string]: unknown };
  readonly admission: { [key: string]: unknown };
  /** Warnings: quarantined tools, names in the policy that match no tool. */
  readonly warnings: string[];
  /** Waits until all events so far are delivered; `false` if that took too long. */
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

/** The contents of a request or its list of messages, and the tools whose calls have no result yet. */
export declare function readHistory(request: string | object): {
  entries: ('user' | Answer | { id: Json; tool: string | null; output: Json; is_error: boolean } | { tools: Json[] })[];
  unanswered: string[];
};

export interface ReplayOptions {
  /** The tools; by default those that the log itself declares. */
  tools?: Tools;
  policy?: string | Policy;
  policyText?: string;
  /** The file name that examples give for records. */
  name?: string;
  /** The id of this part of a log: a part counts once, however often it is merged. */
  part?: string;
}

/** The counts of a replay, which can be merged with those of other parts. */
export declare class Summary {
  private constructor();
  static fromBytes(bytes: Uint8Array): Summary;
  /** Compressed, for another process or for later. */
  toBytes(): Uint8Array;
  /** Adds the counts of another part, in any order. */
  merge(other: Summary): this;
  /** What `callwright replay --format json` prints. */
  report(): Promise<{ [member: string]: unknown }>;
}

/** Judges and counts recorded traffic: a path, `{ paths }`, or an iterable of records as strings or objects. */
export declare function replay(
  source: string | { paths: string[] } | Iterable<string | object> | AsyncIterable<string | object>,
  options?: ReplayOptions,
): Promise<Summary>;

/**
 * A mistake in the program: a bad tool file, an unknown option, something that is not a call. A refused call is a
 * verdict, not an error.
 */
export declare class CallwrightError extends Error {}

/** Thrown by a tool that works but cannot do what was asked. Its own words go to the model. */
export declare class ToolError extends Error {
  constructor(
    code: string,
    detail: string,
    options?: { hint?: string; recommendations?: string[]; next?: Next; cause?: unknown },
  );
  readonly code: string;
}

/** Thrown by a tool whose failure is temporary. */
export declare class TransientError extends Error {
  constructor(detail: string, options?: { retryAfterMs?: number; code?: string; cause?: unknown });
}
