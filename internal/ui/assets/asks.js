// Asks that hookd holds: a hook asks, an agent waits, a person answers.
import { html, signal } from './lib.js';

export const asks = signal([]); // open ones, the oldest first

export function AskBox() { return ''; }
