// Charts: what was decided over time, and how long a hook takes. They are drawn at their
// real width, on a canvas; the page's policy forbids the style attributes of a drawing.
import { html, signal, useLayoutEffect, useRef, useState } from './lib.js';
import { useWidth } from './parts.js';
import { hhmm, hhmmss, when } from './words.js';

const scheme = matchMedia('(prefers-color-scheme: dark)');
const dark = signal(scheme.matches);
scheme.addEventListener('change', () => { dark.value = scheme.matches; });

// color reads a token of the style sheet as it is now.
function color(name) {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

// Plot is a canvas as wide as its place; draw(ctx, width) draws on it, in points.
function Plot({ height, label, draw, deps, brush, ...rest }) {
  const [box, wide] = useWidth(), canvas = useRef();
  useLayoutEffect(() => {
    if (!wide) return;
    const el = canvas.current, px = devicePixelRatio;
    Object.assign(el, { width: wide * px, height: height * px });
    const ctx = el.getContext('2d');
    ctx.scale(px, px);
    draw(ctx, wide);
  }, [wide, height, dark.value, ...deps]);
  const region = brush?.(wide);
  return html`<div class="plot" ref=${box} role="img" aria-label=${label} style=${{ height: height + 'px' }} ...${rest}>
    ${wide > 0 && html`<canvas ref=${canvas} />`}${
    region && html`<i class="brush"
        style=${{ left: region[0] + 'px', width: Math.max(1, region[1] - region[0]) + 'px' }} />`}</div>`;
}

const tokens = { // of each part of a bar, from the base up
  deny: '--deny', ask: '--ask', allow: '--bar-allow', none: '--bar-none', not_asked: '--bar-none',
};
const parts = Object.keys(tokens);
export const sum = (b) => parts.reduce((n, p) => n + (b[p] || 0), 0);
// add adds the counts of a bucket to those of another: disobeyed is how many of the parts' were.
export const add = (to, b) => { for (const p of [...parts, 'disobeyed']) to[p] = (to[p] || 0) + (b[p] || 0); };
// partOf is the part of a bar that a decision is counted in.
export const partOf = (d) => (d.outcome === 'not asked' ? 'not_asked'
  : { deny: 'deny', ask: 'ask', allow: 'allow', contain: 'allow' }[d.decision] || 'none');
const least = 4; // points that a drag must be long

// Bars is a chart of buckets {start, deny, ask, …} of width ms between from
// and to, stacked from the base up. What is rare has 3 points at least, and with marks a
// shape below. onBrush gets the ends of what is dragged over; brush shows them.
export function Bars({ buckets, from, to, width, height, brush, onBrush, marks, label }) {
  const { ends: dragged, handlers } = useDrag((a, b) => onBrush(from + a * (to - from), from + b * (to - from)));
  const ends = dragged || (brush && brush.map((t) => Math.max(0, Math.min(1, (t - from) / (to - from)))));
  return html`<${Plot} height=${height} label=${label} deps=${[buckets, from, to, width, marks]} data-brush=${!!onBrush}
    ...${onBrush ? handlers : {}}
    brush=${(wide) => ends && ends.map((x) => x * wide)}
      draw=${(ctx, wide) => bars(ctx, wide, { buckets, from, to, width, marks, base: height - (marks ? 16 : 0) })} />`;
}

function bars(ctx, wide, { buckets, from, to, width, marks, base }) {
  const ink = Object.fromEntries(parts.map((p) => [p, color(tokens[p])])), top = Math.max(1, ...buckets.map(sum));
  const x = (t) => Math.round((t - from) / (to - from) * wide), gap = width / (to - from) * wide > 4 ? 1 : 0;
  for (const b of buckets) {
    const t = +new Date(b.start), left = x(t), w = Math.max(1, x(t + width) - left - gap);
    let y = base;
    for (const p of parts) {
      if (!b[p]) continue;
      const h = Math.max(p === 'none' ? 1 : 3, Math.round((base - 2) * b[p] / top));
      ctx.fillStyle = ink[p];
      ctx.fillRect(left, y - h, w, h);
      y -= h;
    }
    if (marks) mark(ctx, b, left + w / 2, base + 9, ink);
  }
}

// mark: a square for what was denied or disobeyed, a diamond for what was asked.
function mark(ctx, b, x, y, ink) {
  const r = 3.5;
  if (b.deny || b.disobeyed) { ctx.fillStyle = ink.deny; ctx.fillRect(x - r, y - r, 2 * r, 2 * r); return; }
  if (!b.ask) return;
  ctx.fillStyle = ink.ask;
  ctx.beginPath();
  ctx.moveTo(x, y - r - 1); ctx.lineTo(x + r + 1, y); ctx.lineTo(x, y + r + 1); ctx.lineTo(x - r - 1, y);
  ctx.fill();
}

// Axis are times below a chart, n of them at even distances.
export function Axis({ from, to, n = 2, middle }) {
  const long = to - from > 86400e3;
  const list = Array.from({ length: n }, (_, i) => from + (to - from) * i / (n - 1));
  const text = (t) => (long ? when(t, hhmm) : to - from < 300e3 ? hhmmss(t) : hhmm(t));
  if (middle) return html`<div class="axis mid"><span>${text(from)}</span><span>${middle}</span>
    <span>${text(to)}</span></div>`;
  return html`<div class="axis">${list.map((t) => html`<span>${text(t)}</span>`)}</div>`;
}

// useDrag lets a person choose a part of a chart: {ends, handlers}. ends are from 0 to 1; done gets them.
function useDrag(done) {
  const [drag, setDrag] = useState(null);
  const part = (e) => {
    const r = e.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(1, (e.clientX - r.left) / r.width));
  };
  const ends = drag && [Math.min(...drag), Math.max(...drag)];
  const handlers = {
    onPointerDown: (e) => {
      if (e.button !== 0) return;
      e.currentTarget.setPointerCapture(e.pointerId);
      setDrag([part(e), part(e)]);
    },
    onPointerMove: (e) => { if (drag) setDrag([drag[0], part(e)]); },
    onPointerUp: (e) => {
      if (drag && (ends[1] - ends[0]) * e.currentTarget.clientWidth >= least) done(...ends);
      setDrag(null);
    },
    onPointerCancel: () => setDrag(null),
  };
  return { ends, part, handlers };
}

// Times is one of several small charts with the same axis of n steps between from and to. bars are
// [values, token] over one another, lines [values, token] on one logarithmic scale where ran is not 0; marks
// are times. onOver gets the step that the pointer is over, -1 = none; onBrush gets two times.
export function Times({ n, bars = [], lines = [], ran = [], from, to, marks, over, onOver, brush, onBrush, label }) {
  const height = 56,
    { ends, part, handlers } = useDrag((a, b) => onBrush(from + a * (to - from), from + b * (to - from)));
  const shown = ends || (brush && brush.map((t) => Math.max(0, Math.min(1, (t - from) / (to - from)))));
  const draw = (ctx, wide) => {
    const x = (i) => Math.round(i / n * wide), gap = wide / n > 4 ? 1 : 0;
    for (const [values, token] of bars) {
      const top = Math.max(1, ...bars[0][0]);
      ctx.fillStyle = color(token);
      values.forEach((v, i) => {
        const h = v && Math.max(2, Math.round((height - 2) * v / top));
        ctx.fillRect(x(i), height - h, Math.max(1, x(i + 1) - x(i) - gap), h);
      });
    }
    const all = lines.flatMap(([values]) => values.filter((_, i) => ran[i])).map((v) => Math.log(Math.max(0.01, v)));
    const low = Math.min(...all) - 0.4, high = Math.max(...all) + 0.4;
    for (const [values, token] of lines) {
      ctx.strokeStyle = ctx.fillStyle = color(token);
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      values.forEach((v, i) => { // a step without a run is a gap
        if (!ran[i]) return;
        const y = height - 1 - (height - 2) * (Math.log(Math.max(0.01, v)) - low) / (high - low);
        if (ran[i - 1]) ctx.lineTo(x(i + 0.5), y); else ctx.moveTo(x(i + 0.5), y);
        if (!ran[i - 1] && !ran[i + 1]) ctx.fillRect(x(i + 0.5) - 1.5, y - 1.5, 3, 3);
      });
      ctx.stroke();
    }
    ctx.fillStyle = color('--ink-2');
    for (const t of marks) for (let y = 0; y < height; y += 4) ctx.fillRect(Math.round((t - from) / (to - from) * wide),
      y, 1, 2);
    if (over >= 0) { ctx.fillStyle = color('--ink-3'); ctx.fillRect(x(over + 0.5), 0, 1, height); }
  };
  const move = (e) => { handlers.onPointerMove(e); onOver(Math.min(n - 1, Math.floor(part(e) * n))); };
  return html`<${Plot} height=${height} label=${label} deps=${[bars, lines, from, to, over]} data-brush=${true}
    draw=${draw} ...${handlers}
    onPointerMove=${move} onPointerLeave=${() => onOver(-1)} brush=${(wide) => shown && shown.map((v) => v * wide)} />`;
}

// Lines shows p50 and p95 by the hour, on a logarithmic scale.
export function Lines({ hours, from, to, label }) {
  const draw = (ctx, wide) => {
    const ran = hours.filter((h) => h.runs), value = (h, key) => Math.log(Math.max(0.1, h[key]));
    const all = ran.flatMap((h) => [value(h, 'p50_ms'), value(h, 'p95_ms')]), low = Math.min(...all) - 0.4,
      high = Math.max(...all) + 0.4;
    const line = (key, token, dash) => {
      ctx.strokeStyle = ctx.fillStyle = color(token);
      ctx.lineWidth = 1.5;
      ctx.setLineDash(dash);
      ctx.beginPath();
      let before = 0;
      for (const h of ran) { // an hour without a run is a gap
        const t = +new Date(h.name), x = (t + 18e5 - from) / (to - from) * wide,
          y = 54 - 52 * (value(h, key) - low) / (high - low);
        if (t - before > 36e5) ctx.moveTo(x, y); else ctx.lineTo(x, y);
        ctx.fillRect(x - 1.5, y - 1.5, 3, 3);
        before = t;
      }
      ctx.stroke();
    };
    line('p95_ms', '--ink-3', [2, 3]);
    line('p50_ms', '--ink', []);
  };
  return html`<${Plot} height=${56} label=${label} deps=${[hours, from, to]} draw=${draw} />`;
}
