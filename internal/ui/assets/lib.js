// What the page takes from other authors, in one place.
import { h, render } from './vendor/preact.js';
import htm from './vendor/htm.js';

export { render };
export { useEffect, useLayoutEffect, useRef, useState, useMemo } from './vendor/hooks.js';
export { signal, computed, effect, batch } from './vendor/signals.js';
export const html = htm.bind(h);
