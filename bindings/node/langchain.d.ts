import type { GateOptions } from '.';

export interface GuardOptions extends GateOptions {
  /** The conversation. By default the agent's `thread_id`; without one, each guard is a conversation. */
  session?: string;
}

/** A middleware for `createAgent` of LangChain.js, 1.3 and later. The tools are taken from the agent. */
export declare function guard(options?: GuardOptions): {
  name: string;
  wrapModelCall: (request: any, handler: any) => Promise<any>;
  wrapToolCall: (request: any, handler: any) => Promise<any>;
};
