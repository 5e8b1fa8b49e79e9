import type { Metric, Sample } from './meters.ts';

/** What the text is served as. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Metrics in the text format of Prometheus. */
export function writeExposition(metrics: readonly Metric[]): string {
  return metrics.map(writeMetric).join('');
}

function writeMetric({ name, help, type, samples }: Metric): string {
  const lines = samples.map(
    (sample) => `${name}${sample.suffix ?? ''}${writeLabels(sample)} ${number(sample.value)}\n`,
  );
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function writeLabels({ labels = {} }: Sample): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
