/** How many of how many, as a bar with the same numbers in words. */
import { formatShare } from "../../src/format.ts";
import type { Tone } from "./glyph.tsx";

export interface BarProps {
  desired: number;
  ready: number;
  /** Drawn darker inside the ready part. */
  updated?: number;
  tone: Tone;
  label: string;
  wide?: boolean;
}

export function Bar({ desired, ready, updated, tone, label, wide = false }: BarProps) {
  const all = Math.max(1, desired, ready);
  const share = (value: number): string => `${(Math.max(0, value) / all) * 100}%`;
  return (
    <span class={`bar ${tone} ${wide ? "wide" : ""}`} role="img" aria-label={`${label} ${formatShare(ready, desired)}`}>
      <span class="fill" style={{ width: share(ready) }} />
      {updated !== undefined && updated >= 0 && (
        <span class="fill updated" style={{ width: share(Math.min(updated, all)) }} />
      )}
    </span>
  );
}
