import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startProgress } from './recordings.ts';
import type { Terminal } from './terminal.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function recordingTerminal(isWatched: boolean) {
  const said: string[] = [];
  const terminal: Terminal = {
    out: () => undefined,
    data: () => undefined,
    drive: () => undefined,
    talk: () => undefined,
    redraw: (text) => void said.push(text),
    style: (_style, text) => text,
    styleTalk: (_style, text) => text,
    columns: 80,
    isWatched,
    isPlain: false,
  };
  return { terminal, said };
}

describe('startProgress', () => {
  it('says nothing within the first second, then where it stands, and wipes itself away', () => {
    const { terminal, said } = recordingTerminal(true);
    const progress = startProgress(terminal, 'big.jsonl', 400_000_000);
    progress.update(10_000_000);
    vi.advanceTimersByTime(1001);
    progress.update(100_000_000);
    progress.update(100_000_001);
    progress.end();

    expect(said).toHaveLength(2);
    expect(said[0]).toContain('big.jsonl');
    expect(said[0]).toContain('25.0 %');
    expect(said[1]).toBe('');
  });

  it('counts bytes where the size is not known', () => {
    const { terminal, said } = recordingTerminal(true);
    const progress = startProgress(terminal, '<stdin>', undefined);
    vi.advanceTimersByTime(2000);
    progress.update(5_000_000);

    expect(said[0]).toMatch(/<stdin>.* 5 MB/);
  });

  it('says nothing at all where nobody watches', () => {
    const { terminal, said } = recordingTerminal(false);
    const progress = startProgress(terminal, 'big.jsonl', 1);
    vi.advanceTimersByTime(9000);
    progress.update(1);
    progress.end();

    expect(said).toEqual([]);
  });
});
