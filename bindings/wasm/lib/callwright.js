// callwright in browsers and edge runtimes: judge, rescue, feedback.
//
// The module has no imports and no generated glue. A panic inside it is a trap, which ends the instance: a hostile
// schema or call only costs that one request. The next request starts a new instance, and the gates open their tools
// again in it.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A mistake in the program: bad tools, an unknown option, something that is not a call. A refused call is a verdict,
 * not an error.
 */
export class CallwrightError extends Error {
  name = 'CallwrightError';
}

/** The module trapped: this request has no answer. Others do. */
export class TrapError extends CallwrightError {
  name = 'TrapError';
}

/** Compiles the module from its bytes, a response that contains them, or a compiled `WebAssembly.Module`. */
export async function load(source) {
  const module = source instanceof WebAssembly.Module ? source : await compile(await source);
  return new Callwright(module, await WebAssembly.instantiate(module, {}));
}

function compile(source) {
  const isResponse = typeof Response === 'function' && source instanceof Response;
  if (!isResponse) return WebAssembly.compile(source);
  const isTyped = source.headers.get('content-type')?.startsWith('application/wasm');
  return isTyped ? WebAssembly.compileStreaming(source) : source.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
}

/** The exports of a new instance, whose hash maps have unpredictable seeds. */
function seeded({ exports }) {
  exports.callwright_seed(...crypto.getRandomValues(new Uint32Array(2)));
  return exports;
}

/** A loaded module. */
class Callwright {
  #module;
  #exports;
  #generation = 0;

  constructor(module, instance) {
    this.#module = module;
    this.#exports = seeded(instance);
  }

  /** Opens a gate for tools in any provider's format: a list, an object that contains one, or the text of either. */
  open(tools, options = {}) {
    return new Gate(this, typeof tools === 'string' ? tools : JSON.stringify(tools), JSON.stringify(options));
  }

  /** How much memory the instance has allocated. It never returns any to the page, but reuses it. */
  get memoryBytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  /** Which instance is in use; a new one after each trap. */
  get generation() {
    return this.#generation;
  }

  /** Calls an export with texts; numbers go before them. */
  ask(name, numbers, ...texts) {
    try {
      const written = texts.flatMap((text) => this.#write(text));
      return this.#read(this.#exports[name](...numbers, ...written));
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError)) throw error;
      this.#exports = seeded(new WebAssembly.Instance(this.#module, {}));
      this.#generation += 1;
      throw new TrapError('the module trapped on this input and was restarted', { cause: error });
    }
  }

  forget(gate) {
    this.#exports.callwright_close(gate);
  }

  #write(text) {
    const bytes = encoder.encode(text);
    const room = this.#exports.callwright_room(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, room, bytes.length).set(bytes);
    return [room, bytes.length];
  }

  #read(answer) {
    const { memory, callwright_release: release } = this.#exports;
    const [text, length, isError] = new Uint32Array(memory.buffer, answer, 3);
    const told = decoder.decode(new Uint8Array(memory.buffer, text, length));
    release(answer);
    if (isError) throw new CallwrightError(told);
    return told;
  }
}

/** Judges calls of a set of tools. */
class Gate {
  #module;
  #tools;
  #options;
  #number;
  #generation;

  constructor(module, tools, options) {
    this.#module = module;
    this.#tools = tools;
    this.#options = options;
    this.#open();
  }

  /** The verdict on a call: a call line or a provider's call, as an object or as text. */
  judge(call) {
    return JSON.parse(this.judgeText(call));
  }

  /** The same as the text of the verdict line, which has digits that JavaScript numbers would lose. */
  judgeText(call) {
    return this.#ask('callwright_judge', typeof call === 'string' ? call : JSON.stringify(call));
  }

  /** Extracts calls from the text of a message and judges them: `{calls, rest}`, or `{no_call, why}`. */
  rescue(text) {
    return JSON.parse(this.#ask('callwright_rescue', text));
  }

  /** The verdict in a provider's format. */
  render(provider, call) {
    const line = typeof call === 'string' ? call : JSON.stringify(call);
    return JSON.parse(this.#ask('callwright_render', JSON.stringify([provider, line])));
  }

  /** Every repair that was tried for a call, and whether it helped. */
  explain(call) {
    return JSON.parse(this.#ask('callwright_explain', typeof call === 'string' ? call : JSON.stringify(call)));
  }

  /** The tools as the gate read them. */
  get tools() {
    return JSON.parse(this.#ask('callwright_tools', ''));
  }

  /** The tools as a provider's API accepts them. */
  declare(provider) {
    return JSON.parse(this.#ask('callwright_declare', provider));
  }

  /** Frees its memory. */
  close() {
    if (this.#number !== undefined && this.#generation === this.#module.generation) this.#module.forget(this.#number);
    this.#number = undefined;
  }

  #open() {
    this.#number = Number(this.#module.ask('callwright_open', [], this.#tools, this.#options));
    this.#generation = this.#module.generation;
  }

  #ask(name, text) {
    if (this.#number === undefined) throw new CallwrightError('this gate is closed');
    if (this.#generation !== this.#module.generation) this.#open();
    return this.#module.ask(name, [this.#number], text);
  }
}
