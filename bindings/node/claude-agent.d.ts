import type { GateOptions, Tools } from '.';

export interface HookOptions extends GateOptions {
  /** The tools of your MCP servers, under the names that Claude sees: `mcp__server__tool`. */
  tools?: Tools;
}

type Hook = (input: any, toolUseId: string | undefined, options: { signal: AbortSignal }) => Promise<any>;

/** Hooks for `query({ options: { hooks: hooks() } })` of the Claude Agent SDK. */
export declare function hooks(options?: HookOptions): {
  PreToolUse: { hooks: Hook[] }[];
  PostToolUse: { hooks: Hook[] }[];
  PostToolUseFailure: { hooks: Hook[] }[];
};
