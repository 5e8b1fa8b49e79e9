import type { Summarizer } from '../memory/summary-request.ts';
import type { Thresholds } from '../tokens/thresholds.ts';
import type { TokenEstimator } from '../tokens/token-estimator.ts';
import type { Economy, Turn } from './economics/economy.ts';
import type { CompactionEvent } from './events.ts';
import type { HandleFor } from './plan/handles.ts';
import type { PinOptions } from './plan/pins.ts';
import type { Strategy } from './plan/strategy.ts';

/** What all runs with the same options have in common. */
export interface Engine {
  readonly thresholds: Thresholds;
  readonly estimator: TokenEstimator;
  readonly strategy: Strategy;
  /** What is left when the window is as good as full and nothing else helped. */
  readonly emergency: Strategy;
  readonly summarizer: Summarizer;
  /** Milliseconds that a summarizer may take. */
  readonly summarizerTimeout: number;
  readonly pins: PinOptions;
  readonly bindsReasoning: boolean;
  /** Undefined: nobody asks what anything costs. */
  readonly economy: Economy | undefined;
  readonly emit: (event: CompactionEvent) => void;
}

/** A turn with the means to stop it. */
export interface RunTurn extends Turn {
  readonly signal: AbortSignal | undefined;
  /** Names what leaves, where it is kept. */
  readonly handleFor?: HandleFor | undefined;
}
