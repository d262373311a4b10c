// Charts: what was decided over time, and how long a hook takes. uPlot draws them at
// their real width; the bars are ours.
import { html, signal, useEffect, useRef } from './lib.js';
import { hhmm, when } from './words.js';

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

const parts = ['deny', 'ask', 'allow', 'none']; // from the base up
const tokens = { deny: '--deny', ask: '--ask', allow: '--bar-allow', none: '--bar-none' };

// Bars is a chart of buckets {start, deny, ask, allow, none} of width ms between from
// and to, stacked from the base up. What is rare has 3 px at least, and with marks a
// shape below. onBrush gets the ends of what is dragged over; brush shows them.
export function Bars({ buckets, from, to, width, height, brush, onBrush, marks, label }) {
  const box = useRef(), plot = useRef(), live = useRef({});
  live.current = { buckets, from, to, width, brush, onBrush, marks };
  useEffect(() => {
    const el = box.current;
    const u = make(el, live, height, marks);
    plot.current = u;
    const watch = new ResizeObserver(() => {
      if (el.clientWidth > 0 && el.clientWidth !== u.width) { u.setSize({ width: el.clientWidth, height }); region(u, live.current); }
    });
    watch.observe(el);
    return () => { watch.disconnect(); u.destroy(); };
  }, [height, marks, dark.value]);
  useEffect(() => {
    const u = plot.current;
    u.setData([[from / 1000, to / 1000], [0, top(buckets)]]);
    region(u, live.current);
  }, [buckets, from, to, width, brush && brush[0], brush && brush[1], dark.value]);
  return html`<div class="plot" ref=${box} role="img" aria-label=${label} data-brush=${!!onBrush}></div>`;
}

const top = (buckets) => Math.max(1, ...buckets.map((b) => b.deny + b.ask + b.allow + b.none));

// region shows what the search selects. It is not told to onBrush.
function region(u, { brush }) {
  u.quiet = true;
  if (!brush) u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  else {
    const a = Math.max(0, u.valToPos(brush[0] / 1000, 'x')), b = Math.min(u.over.clientWidth, u.valToPos(brush[1] / 1000, 'x'));
    u.setSelect({ left: a, top: 0, width: Math.max(1, b - a), height: u.over.clientHeight }, false);
  }
  u.quiet = false;
}

function make(el, live, height, marks) {
  const ink = Object.fromEntries(parts.map((p) => [p, color(tokens[p])]));
  const axis = { show: false };
  return new window.uPlot({
    width: Math.max(10, el.clientWidth), height, pxAlign: 1, legend: { show: false }, padding: [2, 0, marks ? 16 : 0, 0],
    cursor: { show: !!live.current.onBrush, x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 } },
    scales: { x: { time: true, range: () => [live.current.from / 1000, live.current.to / 1000] }, y: { range: () => [0, top(live.current.buckets)] } },
    axes: [axis, axis],
    series: [{}, { show: false }],
    hooks: {
      draw: [(u) => bars(u, live.current, ink)],
      setSelect: [(u) => {
        const { onBrush } = live.current;
        if (u.quiet || !onBrush || u.select.width < 4) return;
        onBrush(u.posToVal(u.select.left, 'x') * 1000, u.posToVal(u.select.left + u.select.width, 'x') * 1000);
      }],
    },
  }, [[live.current.from / 1000, live.current.to / 1000], [0, 1]], el);
}

function bars(u, { buckets, width, marks }, ink) {
  const { ctx } = u, px = devicePixelRatio, base = u.bbox.top + u.bbox.height;
  ctx.save();
  const gap = (u.valToPos(width / 1000, 'x', true) - u.valToPos(0, 'x', true)) > 4 * px ? px : 0;
  for (const b of buckets) {
    const t = +new Date(b.start) / 1000;
    const x = Math.round(u.valToPos(t, 'x', true)), right = Math.round(u.valToPos(t + width / 1000, 'x', true));
    const w = Math.max(px, right - x - gap);
    let y = base;
    for (const p of parts) {
      if (!b[p]) continue;
      const least = p === 'none' ? px : 3 * px;
      const h = Math.max(least, Math.round(u.bbox.height * b[p] / top(buckets)));
      ctx.fillStyle = ink[p];
      ctx.fillRect(x, y - h, w, h);
      y -= h;
    }
    if (marks) mark(ctx, b, x + w / 2, base + 9 * px, px, ink);
  }
  ctx.restore();
}

// mark: a square for what was denied, a diamond for what was asked.
function mark(ctx, b, x, y, px, ink) {
  const r = 3.5 * px;
  if (b.deny) { ctx.fillStyle = ink.deny; ctx.fillRect(x - r, y - r, 2 * r, 2 * r); return; }
  if (!b.ask) return;
  ctx.fillStyle = ink.ask;
  ctx.beginPath();
  ctx.moveTo(x, y - r - px); ctx.lineTo(x + r + px, y); ctx.lineTo(x, y + r + px); ctx.lineTo(x - r - px, y);
  ctx.fill();
}

// Axis are times below a chart, n of them at even distances.
export function Axis({ from, to, n = 2, middle }) {
  const long = to - from > 86400e3;
  const list = Array.from({ length: n }, (_, i) => from + (to - from) * i / (n - 1));
  const text = (t) => (long ? when(t, hhmm) : hhmm(t));
  if (middle) return html`<div class="axis"><span>${text(from)}</span><span>${middle}</span><span>${text(to)}</span></div>`;
  return html`<div class="axis">${list.map((t) => html`<span>${text(t)}</span>`)}</div>`;
}

// Lines shows p50 and p95 by the hour, on a logarithmic scale.
export function Lines({ hours, from, to, label }) {
  const box = useRef();
  useEffect(() => {
    const el = box.current;
    if (!hours.length) return undefined;
    const xs = [], p50 = [], p95 = [];
    for (let t = Math.floor(from / 36e5) * 36e5; t <= to; t += 36e5) {
      const h = hours.find((g) => +new Date(g.name) === t);
      xs.push(t / 1000 + 1800);
      p50.push(h && h.runs ? Math.max(0.1, h.p50_ms) : null);
      p95.push(h && h.runs ? Math.max(0.1, h.p95_ms) : null);
    }
    const all = [...p50, ...p95].filter((v) => v !== null);
    const low = Math.min(...all) / 1.5, high = Math.max(...all) * 1.5;
    const u = new window.uPlot({
      width: Math.max(10, el.clientWidth), height: 56, legend: { show: false }, padding: [2, 0, 2, 0],
      cursor: { show: false },
      scales: { x: { time: true, range: () => [from / 1000, to / 1000] }, y: { distr: 3, range: () => [low, high] } },
      axes: [{ show: false }, { show: false }],
      series: [{}, { stroke: color('--ink'), width: 1.5, points: { size: 4 } }, { stroke: color('--ink-3'), width: 1.5, dash: [2, 3], points: { size: 4 } }],
    }, [xs, p50, p95], el);
    const watch = new ResizeObserver(() => el.clientWidth && el.clientWidth !== u.width && u.setSize({ width: el.clientWidth, height: 56 }));
    watch.observe(el);
    return () => { watch.disconnect(); u.destroy(); };
  }, [hours, from, to, dark.value]);
  return html`<div class="plot lines" ref=${box} role="img" aria-label=${label}></div>`;
}
