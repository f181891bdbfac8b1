import type { CallInput, Effect, Finding, Gate, GateOptions, JsonObject, Place, Provider, Settled } from '..';

/** The part of Standard Schema (standardschema.dev) that is used: Zod 4, Valibot, ArkType and others have it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, ...rest: never[]) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A JSON Schema, written with `as const` if the argument types should be inferred from it. */
export interface PlainSchema {
  readonly type?: string | readonly string[];
  readonly [keyword: string]: unknown;
}

/** The type of the arguments that a schema describes. */
export type InferInput<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : JsonObject
  : FromSchema<S>;

type Scalars = { string: string; integer: number | bigint; number: number | bigint; boolean: boolean; null: null };

/** The type of the values that a JSON Schema accepts, as far as its keywords say. */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer B)[] }
      ? FromSchema<B>
      : S extends { readonly oneOf: readonly (infer B)[] }
        ? FromSchema<B>
        : S extends { readonly properties: infer P }
          ? FromObject<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
          : S extends { readonly type: 'array'; readonly items: infer I }
            ? FromSchema<I>[]
            : S extends { readonly type: 'array' }
              ? unknown[]
              : S extends { readonly type: 'object' }
                ? { [key: string]: unknown }
                : S extends { readonly type: infer T extends keyof Scalars }
                  ? Scalars[T]
                  : S extends { readonly type: readonly (infer T extends keyof Scalars)[] }
                    ? Scalars[T]
                    : unknown;

type FromObject<P, R> = Simplified<
  { -readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
    -readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>;
  }
>;

type Simplified<T> = { [K in keyof T]: T[K] } & {};

/** Which call a tool's function serves. */
export interface CallContext {
  tool: string;
  id: unknown;
  session: string | number | undefined;
  turn: number | string | undefined;
  round: number | string | undefined;
  /** Equal for the same tool and arguments: together with the id, a good idempotency key. */
  fingerprint: string;
  /** How often the function has already run for this call. */
  attempt: number;
  /** Aborted when the call times out, or its caller goes away. */
  signal: AbortSignal;
}

export interface ToolOptions<S, O> {
  name: string;
  description?: string;
  /** A Zod 4 schema, any Standard Schema with JSON Schema, or a JSON Schema. */
  input?: S;
  output?: object;
  /** What a call does to the world. Tools without this are treated with care. */
  effect?: Effect;
  /** Whether calling twice has the same effect as calling once. */
  idempotent?: boolean;
  /** How long a call may take; one minute by default. */
  timeoutMs?: number;
  /** How often a call that failed temporarily is retried, if that does no harm. */
  retries?: number;
  /** Checks a result; its finding goes to the model. */
  check?: (output: Awaited<O>, args: InferInput<S>) => Finding | undefined | null;
  run?: (args: InferInput<S>, context: CallContext) => O;
}

export declare class ToolDefinition<S, O> {
  private constructor();
  readonly name: string;
  readonly inputSchema: object;
  readonly outputSchema: object | undefined;
  readonly run: ((args: InferInput<S>, context: CallContext) => O) | undefined;
  toJSON(): object;
}

/** Declares a tool. The arguments of `run` have the type of `input`. */
export declare function tool<const S extends StandardSchema | PlainSchema, O>(options: ToolOptions<S, O>): ToolDefinition<S, O>;

export interface InvokeOptions extends Place {
  /** Ends the call when aborted; the model is told that it was cancelled. */
  signal?: AbortSignal;
}

/**
 * Tools with their functions: judges a call, runs it, judges its result. A failing tool never affects more than its own
 * call.
 */
export declare class Toolbox {
  constructor(tools: readonly ToolDefinition<any, any>[], options?: GateOptions);
  readonly gate: Gate;
  /** Handles one call, from the model's output to the model's input. Never rejects because of the call or the tool. */
  invoke(call: CallInput, options?: InvokeOptions): Promise<Settled>;
  /** Runs the calls of one answer concurrently, in the same round. */
  invokeAll(calls: readonly CallInput[], options?: InvokeOptions): Promise<Settled[]>;
  /** The tools as a provider's API accepts them. */
  declare(provider: Provider): JsonObject[];
}
