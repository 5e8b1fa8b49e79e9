import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatShort } from '../src/report/terminal.ts';
import { colour, watchColours } from './colours.ts';
import type { Turn } from './state.ts';

/** Kinds in the order in which they are stacked, what they are called, and the number of their colour. */
const KINDS: readonly (readonly [kind: string, name: string, series: number])[] = [
  ['system', 'instructions', 7],
  ['tools', 'tools', 1],
  ['user', 'user', 2],
  ['assistant', 'assistant', 3],
  ['reasoning', 'reasoning', 4],
  ['tool-calls', 'calls', 6],
  ['tool-results', 'results', 0],
  ['rest', 'other', 5],
];
const HEIGHT = 260;

interface Chart {
  readonly turns: readonly Turn[];
  readonly windowTokens: number | undefined;
  readonly triggerTokens: number | undefined;
}

/** Tokens received by kind, turn by turn, with what was sent as a line and folds as marks. */
export function TurnChart(chart: Chart) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ plot: uPlot; chart: Chart } | undefined>(undefined);

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const draw = () => {
      drawn.current?.plot.destroy();
      const holder = { chart } as { plot: uPlot; chart: Chart };
      holder.plot = new uPlot(
        optionsFor(element.clientWidth, () => holder.chart),
        dataOf(chart),
        element,
      );
      drawn.current = holder;
    };
    draw();
    const resized = new ResizeObserver(() => {
      const { plot } = drawn.current ?? {};
      if (plot !== undefined && plot.width !== element.clientWidth)
        plot.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    const leave = watchColours(draw);
    return () => {
      resized.disconnect();
      leave();
      drawn.current?.plot.destroy();
      drawn.current = undefined;
    };
  }, []);

  useEffect(() => {
    if (drawn.current === undefined) return;
    drawn.current.chart = chart;
    drawn.current.plot.setData(dataOf(chart));
  }, [chart.turns, chart.triggerTokens, chart.windowTokens]);

  const last = chart.turns.at(-1);
  const folds = chart.turns.filter(({ isFold }) => isFold).length;
  const description = `Tokens of ${chart.turns.length} turns by kind; ${folds} folds; the last one sent ${formatShort(last?.tokensSent ?? 0)} tokens`;
  return (
    <figure class="chart">
      <div ref={host} role="img" aria-label={description} class="plot" />
      <Key last={last} />
    </figure>
  );
}

/** What the colours stand for, with the newest numbers. */
function Key({ last }: { last: Turn | undefined }) {
  return (
    <ul class="key">
      {KINDS.map(([kind, name, series]) => (
        <li key={kind}>
          <i style={{ background: `var(--s${series})` }} />
          {name} <b>{formatShort(last === undefined ? 0 : tokensOf(last, kind))}</b>
        </li>
      ))}
      <li>
        <i class="line" />
        sent <b>{formatShort(last?.tokensSent ?? 0)}</b>
      </li>
      <li>
        <i class="fold" />
        fold
      </li>
    </ul>
  );
}

/** What is none of the named kinds is the rest. */
function tokensOf({ tokensByKind = {}, tokensReceived = 0 }: Turn, kind: string): number {
  if (kind !== 'rest') return tokensByKind[kind] ?? 0;
  const named = KINDS.reduce((sum, [each]) => sum + (each === 'rest' ? 0 : (tokensByKind[each] ?? 0)), 0);
  return Math.max(0, tokensReceived - named);
}

/** Turns, then each kind with all below it, the uppermost first: what is drawn later covers what it stands on. */
function dataOf({ turns }: Chart): uPlot.AlignedData {
  let below = turns.map(() => 0);
  const stacked = KINDS.map(([kind]) => {
    below = below.map((sum, index) => sum + tokensOf(turns[index] as Turn, kind)); // both have one entry for each turn
    return below;
  });
  const sent = turns.map(({ tokensSent }) => tokensSent ?? null);
  return [turns.map(({ number }) => number), ...stacked.toReversed(), sent, sent];
}

function optionsFor(width: number, chartOf: () => Chart): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.86, 28] });
  const line = uPlot.paths.linear?.();
  return {
    width,
    height: HEIGHT,
    padding: [14, 8, 0, 0],
    legend: { show: false },
    cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: (_plot, low, high) => [low - 0.6, Math.max(high, low + 11) + 0.6] },
      y: { range: (_plot, _low, high) => [0, Math.max(high, chartOf().triggerTokens ?? 0, 1) * 1.06] },
    },
    axes: [
      axis({
        values: (_plot, values) => values.map((value) => (Number.isInteger(value) ? String(value) : '')),
        size: 28,
      }),
      axis({ values: (_plot, values) => values.map((value) => formatShort(value)), size: 52 }),
    ],
    series: [
      {},
      ...KINDS.toReversed().map(([, , series]) => ({
        fill: colour(`s${series}`),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
      // A line with an edge can be seen on every colour.
      ...(
        [
          ['surface', 5],
          ['ink', 2],
        ] as const
      ).map(([name, width]) => ({
        stroke: colour(name),
        width,
        points: { show: false },
        ...(line === undefined ? {} : { paths: line }),
      })),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, chartOf())] },
  };
}

function axis(rest: Partial<uPlot.Axis>): uPlot.Axis {
  return {
    stroke: colour('muted'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    ...rest,
  };
}

/** A dashed line where a fold is due, and a mark above every turn that was the first with a fold. */
function drawMarks(plot: uPlot, { turns, triggerTokens }: Chart): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  if (triggerTokens !== undefined) {
    const y = plot.valToPos(triggerTokens, 'y', true);
    ctx.strokeStyle = colour('warning');
    ctx.lineWidth = ratio;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillStyle = colour('warning');
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'bottom';
    ctx.fillText('trigger', bbox.left + 6 * ratio, y - 3 * ratio);
  }
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.strokeStyle = colour('ink');
  ctx.fillStyle = colour('accent');
  for (const { number } of turns.filter(({ isFold }) => isFold)) {
    // Between the last turn before it and itself.
    const x = plot.valToPos(number - 0.5, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const size = 5 * ratio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top - size);
    ctx.lineTo(x + size, bbox.top);
    ctx.lineTo(x, bbox.top + size);
    ctx.lineTo(x - size, bbox.top);
    ctx.fill();
  }
  ctx.restore();
}
