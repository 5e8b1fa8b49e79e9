import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { colour, watchColours } from './colours.ts';
import { usd } from './parts.tsx';
import type { Money } from './state.ts';

const HEIGHT = 220;

type Series = Money['series'];

/** What everything has cost up to each moment, and what it would have cost. */
export function MoneyChart({ series }: { series: Series }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const newest = useRef(series);
  newest.current = series;

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(element.clientWidth), dataOf(newest.current), element);
    };
    draw();
    const resized = new ResizeObserver(() => {
      if (plot.current !== undefined && plot.current.width !== element.clientWidth)
        plot.current.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    const leave = watchColours(draw);
    return () => {
      resized.disconnect();
      leave();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => plot.current?.setData(dataOf(series)), [series]);

  const last = series.at(-1);
  const label = `Costs over time: ${usd(last?.sent ?? 0)} sent, ${usd(last?.direct ?? 0)} without folds`;
  return (
    <figure class="chart">
      <div ref={host} role="img" aria-label={label} class="plot low" />
      <ul class="key">
        <li>
          <i class="line" />
          sent <b>{usd(last?.sent ?? 0)}</b>
        </li>
        <li>
          <i class="line dashed" />
          direct <b>{usd(last?.direct ?? 0)}</b>
        </li>
      </ul>
    </figure>
  );
}

/** By the number of the request rather than by the clock: pauses tell nothing here. */
function dataOf(series: Series): uPlot.AlignedData {
  return [
    series.map((_point, index) => index + 1),
    series.map(({ direct }) => direct),
    series.map(({ sent }) => sent),
  ];
}

function optionsFor(width: number): uPlot.Options {
  const axis = (rest: Partial<uPlot.Axis>): uPlot.Axis => ({
    stroke: colour('muted'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    ...rest,
  });
  return {
    width,
    height: HEIGHT,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { x: false, y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, Math.max(high, 1e-6) * 1.05] } },
    axes: [
      axis({
        values: (_plot, values) => values.map((value) => (Number.isInteger(value) ? String(value) : '')),
        size: 28,
      }),
      axis({
        values: (_plot, values) => values.map((value) => `$${Number(value.toPrecision(3))}`),
        size: 64,
      }),
    ],
    series: [
      {},
      { stroke: colour('muted'), width: 2, dash: [6, 4], points: { show: false } },
      { stroke: colour('accent'), width: 2, points: { show: false } },
    ],
  };
}
