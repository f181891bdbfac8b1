import type { Gate, GateOptions } from '.';

export interface GuardOptions extends GateOptions {
  /** The conversation, or a function that derives it from what the SDK passes to a tool. By default, one per guard. */
  session?: string | ((context: { toolCallId: string; messages: readonly unknown[] }) => string);
}

/** Guards the tools of the Vercel AI SDK, 6 and 7. */
export declare function guard<Tools extends object>(
  tools: Tools,
  options?: GuardOptions,
): {
  /** The same tools, with every call counted and every result judged. */
  tools: Tools;
  /** For `repairToolCall` (7) or `experimental_repairToolCall` (6). */
  repairToolCall: (failed: any) => Promise<any>;
  gate: Gate;
};
