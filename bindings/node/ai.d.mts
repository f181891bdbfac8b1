export * from './ai.js';
