// The same for `import`.
import callwright from './ai.js';

export const { guard } = callwright;
