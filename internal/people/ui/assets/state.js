// Where the page is: all of it stands in the address, after #, so that an address
// that was kept opens the same view. #stream?q=tool:Bash&open=01J…
import { signal } from './lib.js';

// tabs are the views that the bar has, by the order of their keys; the others are opened from these.
export const tabs = ['now', 'stream', 'session', 'hooks', 'undo', 'learn'];
const views = [...tabs, 'whatif', 'run', 'call', 'guard', 'edit', 'grants'];

function read() {
  const text = location.hash.slice(1);
  const cut = text.indexOf('?');
  const name = cut < 0 ? text : text.slice(0, cut);
  const view = views.includes(name) ? name : 'now';
  const p = Object.create(null);
  for (const [key, value] of new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1))) p[key] = value;
  return { view, p };
}

export const route = signal(read());
addEventListener('hashchange', () => { route.value = read(); });

// link returns the address of a view; parameters without a value are left out.
export function link(view, p = {}) {
  const list = new URLSearchParams();
  for (const key of Object.keys(p)) if (p[key] !== undefined && p[key] !== '' && p[key] !== null) list.set(key, p[key]);
  const query = list.toString();
  return '#' + view + (query ? '?' + query : '');
}

// go opens a view; the browser's Back returns from it.
export function go(view, p) {
  history.pushState(null, '', link(view, p));
  route.value = read();
}

// put changes parameters of the view that is shown. Back does not go through them.
export function put(changes) {
  const { view, p } = route.value;
  history.replaceState(null, '', link(view, { ...p, ...changes }));
  route.value = read();
}
