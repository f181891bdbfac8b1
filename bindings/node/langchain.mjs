// The same for `import`.
import callwright from './langchain.js';

export const { guard } = callwright;
