// The signals that lib.js takes.
export interface Signal<T> { value: T }
export function signal(first: Record<string, never>): Signal<any>;
export function signal<T>(first: T): Signal<T>;
export function computed<T>(of: () => T): { readonly value: T };
export function effect(run: () => void | (() => void)): () => void;
export function batch<T>(run: () => T): T;
