// The parts of preact.js that lib.js takes. Types of this file are for the checker alone.
export const h: any;
export const options: { vnode?: (node: any) => void };
export function render(node: any, parent: Element): void;
