/** Colours by role, for light and dark screens. Tests hold their contrast to WCAG's 4.5 for text and 3 for graphics. */
export interface Palette {
  readonly page: string;
  readonly surface: string;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly good: string;
  readonly warning: string;
  readonly critical: string;
  /** What tells series apart, beside their marks and names: chosen to differ for the colour-blind too. */
  readonly series: readonly string[];
}

export const lightPalette: Palette = {
  page: '#fafaf8',
  surface: '#ffffff',
  ink: '#1b1d21',
  muted: '#5c626b',
  line: '#e3e4e1',
  accent: '#0a5fb4',
  good: '#0b7550',
  warning: '#8a5a00',
  critical: '#b3261e',
  series: ['#0a62ad', '#c44d00', '#00795c', '#8745a8', '#7d6300', '#c02c6b', '#39788c', '#6a6f78'],
};

export const darkPalette: Palette = {
  page: '#131518',
  surface: '#1a1d21',
  ink: '#e9ebee',
  muted: '#a2a8b1',
  line: '#2e3238',
  accent: '#76b7ff',
  good: '#4cc79a',
  warning: '#e3b341',
  critical: '#ff8a80',
  series: ['#5eaef5', '#ff9152', '#35c69c', '#c893ea', '#d9b341', '#ff83b0', '#7fc1d6', '#a5abb5'],
};

/** How many series have a colour of their own. */
export const seriesColours = lightPalette.series.length;
