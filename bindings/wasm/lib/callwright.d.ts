/**
 * A mistake in the program: bad tools, an unknown option, something that is not a call. A refused call is a verdict,
 * not an error.
 */
export declare class CallwrightError extends Error {}

/** The module trapped: this request has no answer. Others do. */
export declare class TrapError extends CallwrightError {}

export interface Options {
  /** The text of a policy file. Checks in CEL are not in this build. */
  policy?: string;
  repair?: 'none' | 'lossless' | 'lossy' | 'guess' | 'by_effect';
  style?: 'instruction' | 'numbered' | 'json' | 'tool_error';
  receipts?: boolean;
  effects?: { [tool: string]: 'unknown' | 'read' | 'write' | 'destructive' };
  max_bytes?: number;
  max_depth?: number;
}

type Provider = 'openai_chat' | 'openai_responses' | 'anthropic' | 'gemini' | 'mcp';

/** The verdict line of the contract. */
export interface VerdictLine {
  id?: unknown;
  tool: string;
  verdict: 'valid' | 'repaired' | 'refused' | 'unjudged';
  arguments?: { [key: string]: unknown };
  edits: { path: string; rule: string; grade: string; before: unknown; after: unknown }[];
  failure?: { class: string; code: string; next: string; detail: string; hint: string; issues: object[] };
  feedback?: string;
  [member: string]: unknown;
}

/** Judges calls of a set of tools. */
export interface Gate {
  judge(call: string | object): VerdictLine;
  judgeText(call: string | object): string;
  rescue(text: string): { calls: VerdictLine[]; rest: string } | { no_call: string; why: string };
  render(provider: Provider, call: string | object): object;
  explain(call: string | object): { rule: string; grade: string; path: string; helps: boolean; words: string }[];
  readonly tools: object[];
  declare(provider: Provider): object[];
  /** Frees its memory. */
  close(): void;
}

export interface Callwright {
  open(tools: string | object, options?: Options): Gate;
  /** How much memory the instance has allocated. */
  readonly memoryBytes: number;
}

/** Compiles the module from its bytes, a response that contains them (or a promise of one), or a compiled module. */
export declare function load(
  source: BufferSource | Response | WebAssembly.Module | Promise<BufferSource | Response>,
): Promise<Callwright>;
