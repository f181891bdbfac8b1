// The same for `import`.
import callwright from './claude-agent.js';

export const { hooks } = callwright;
