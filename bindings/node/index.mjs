// The same package for `import`. There is one implementation, so both see the same classes.
import callwright from './index.js';

export const {
  CallwrightError,
  Gate,
  Settled,
  Summary,
  Ticket,
  ToolDefinition,
  ToolError,
  Toolbox,
  TransientError,
  Verdict,
  readAnswer,
  readHistory,
  replay,
  tool,
} = callwright;
export default callwright;
