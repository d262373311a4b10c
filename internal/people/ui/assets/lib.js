// What the page takes from other authors, in one place.
import { h, options, render } from './vendor/preact.js';
import htm from './vendor/htm.js';
import { visible } from './visible.js';

export { render };
export { useEffect, useLayoutEffect, useRef, useState, useMemo } from './vendor/hooks.js';
export { signal, computed, effect, batch } from './vendor/signals.js';
export const html = htm.bind(h);

// Every text that the page draws, and every attribute that people read, is made visible here.
const before = options.vnode;
options.vnode = (node) => {
  if (node.type === null) { if (typeof node.props === 'string') node.props = visible(node.props); }
  else if (typeof node.type === 'string') for (const name of ['title', 'aria-label',
    'placeholder']) if (typeof node.props[name] === 'string') node.props[name] = visible(node.props[name]);
  before?.(node);
};
