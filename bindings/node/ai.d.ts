import type { Gate, GateOptions } from '.';

export interface GuardOptions extends GateOptions {
  /** The conversation, or a function that tells it from what the SDK hands to a tool. One per guard if absent. */
  session?: string | ((context: { toolCallId: string; messages: readonly unknown[] }) => string);
}

/** Guards the tools of the Vercel AI SDK, 6 and 7. */
export declare function guard<Tools extends object>(
  tools: Tools,
  options?: GuardOptions,
): {
  /** The same tools: every call is counted, every result judged. */
  tools: Tools;
  /** For `repairToolCall` (7) or `experimental_repairToolCall` (6). */
  repairToolCall: (failed: any) => Promise<any>;
  gate: Gate;
};
