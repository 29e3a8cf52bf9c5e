/**
 * Recent recommendations and scale events of an autoscaler. Kept in memory for the length of its windows; a restart
 * starts over, as upstream's does.
 */
import { STABILIZATION_MS, downWindowMs } from "./scaling-limits.ts";
import type { History, ReadonlyAutoscaler, Sample } from "./scaling-limits.ts";

export interface Histories {
  of(id: string): History;
  recommended(id: string, autoscaler: ReadonlyAutoscaler, replicas: number, nowMs: number): void;
  scaled(id: string, autoscaler: ReadonlyAutoscaler, from: number, to: number, nowMs: number): void;
  forget(id: string): void;
}

const NOTHING: History = { recommendations: [], ups: [], downs: [] };

export function createHistories(): Histories {
  const histories = new Map<string, History>();
  const recent = (samples: readonly Sample[], windowMs: number, nowMs: number): Sample[] =>
    samples.filter(({ atMs }) => atMs > nowMs - windowMs);
  const of = (id: string): History => histories.get(id) ?? NOTHING;

  return {
    of,
    recommended(id, { spec }, replicas, nowMs) {
      const windowMs = Math.max(
        STABILIZATION_MS,
        downWindowMs(spec.behavior),
        (spec.behavior?.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
      );
      const before = of(id);
      histories.set(id, {
        ...before,
        recommendations: [...recent(before.recommendations, windowMs, nowMs), { atMs: nowMs, replicas }],
      });
    },
    scaled(id, { spec }, from, to, nowMs) {
      if (!spec.behavior) return;
      const policies = [...(spec.behavior.scaleUp?.policies ?? []), ...(spec.behavior.scaleDown?.policies ?? [])];
      const windowMs = Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * 1000;
      const before = of(id);
      const add = (samples: readonly Sample[], change: number): Sample[] => [
        ...recent(samples, windowMs, nowMs),
        ...(change > 0 ? [{ atMs: nowMs, replicas: change }] : []),
      ];
      histories.set(id, { ...before, ups: add(before.ups, to - from), downs: add(before.downs, from - to) });
    },
    forget: (id) => void histories.delete(id),
  };
}
