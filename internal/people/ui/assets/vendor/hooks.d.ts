// The hooks that lib.js takes.
type Next<T> = T | ((was: T) => T);
type Open = Record<string, never>; // an object that gets its members later
export function useState(first: Open): [any, (next: any) => void];
export function useState<T>(first: T | (() => T)): [T, (next: Next<T>) => void];
export function useEffect(run: () => void | (() => void), deps?: unknown[]): void;
export function useLayoutEffect(run: () => void | (() => void), deps?: unknown[]): void;
export function useRef(first?: any): { current: any };
export function useMemo<T>(make: () => T, deps: unknown[]): T;
