/** How many seats each priority level of a cluster has: nominal limits by shares, and borrowing by demand. Pure. */
import type { PriorityLevelConfigurationSpec } from "@flotilla/apimachinery/facts/flowcontrol-v1.ts";
import type { DeepReadonly } from "@flotilla/base";

export interface SeatLimits {
  /** The level's share of the server's seats. */
  nominal: number;
  /** What is left when everything lendable is lent. */
  min: number;
  /** With everything that may be borrowed. */
  max: number;
}

/** By the name of the level. */
export function nominalLimits(
  levels: ReadonlyMap<string, DeepReadonly<PriorityLevelConfigurationSpec>>,
  serverSeats: number,
): Map<string, SeatLimits> {
  const sharesOf = ({ limited, exempt }: DeepReadonly<PriorityLevelConfigurationSpec>): number =>
    limited?.nominalConcurrencyShares ?? exempt?.nominalConcurrencyShares ?? 0;
  let sum = 0;
  for (const spec of levels.values()) sum += sharesOf(spec);
  const limits = new Map<string, SeatLimits>();
  let nominalSum = 0;
  for (const [name, spec] of levels) {
    const nominal = sum === 0 ? 0 : Math.ceil((serverSeats * sharesOf(spec)) / sum);
    const lendable = Math.round((nominal * (spec.limited?.lendablePercent ?? spec.exempt?.lendablePercent ?? 0)) / 100);
    nominalSum += nominal;
    limits.set(name, { nominal, min: nominal - lendable, max: nominal });
  }
  for (const [name, spec] of levels) {
    const limit = limits.get(name);
    if (!limit) continue;
    const percent = spec.limited?.borrowingLimitPercent;
    const borrowed = percent === undefined ? nominalSum - limit.nominal : Math.round((limit.nominal * percent) / 100);
    limit.max = Math.min(nominalSum, limit.nominal + Math.max(0, borrowed));
  }
  return limits;
}

/** The demand of a level in the last period. */
export interface SeatDemand {
  limits: SeatLimits;
  isExempt: boolean;
  /** The largest demand. */
  highWatermark: number;
  /** Average and deviation, decaying over several periods. */
  smoothed: number;
}

/** The limits for the next period. Every level keeps what it needs up to its nominal limit; the rest is divided by demand. */
export function currentLimits(demands: ReadonlyMap<string, SeatDemand>): Map<string, number> {
  const current = new Map<string, number>();
  let remaining = 0;
  for (const { limits } of demands.values()) remaining += limits.nominal;
  const total = remaining;
  const items: { name: string; lower: number; upper: number; target: number; min: number }[] = [];
  let minSum = 0;
  let lowerSum = 0;
  for (const [name, { limits, isExempt, highWatermark, smoothed }] of demands) {
    if (isExempt) {
      const seats = Math.max(limits.min, highWatermark);
      current.set(name, seats);
      remaining -= seats;
      continue;
    }
    const lower = Math.max(limits.min, Math.min(limits.nominal, highWatermark));
    items.push({ name, lower, upper: limits.max, target: Math.max(lower, smoothed), min: limits.min });
    minSum += limits.min;
    lowerSum += lower;
  }
  if (remaining <= minSum) for (const { name, min } of items) current.set(name, min);
  else if (remaining <= lowerSum) {
    const fraction = (remaining - minSum) / (lowerSum - minSum);
    for (const { name, lower, min } of items) current.set(name, min + Math.round((lower - min) * fraction));
  } else {
    const seats = divide(total, items);
    for (const [index, { name }] of items.entries()) current.set(name, Math.round(seats[index] ?? 0));
  }
  return current;
}

/** A target below this would leave a level without demand at its lower bound for ever. */
const MIN_TARGET = 0.001;
const STEPS = 60;

/**
 * Divides so that everyone has the same multiple of its target, within its bounds. The multiple is found by bisection:
 * the sum grows with it.
 */
function divide(total: number, items: readonly { lower: number; upper: number; target: number }[]): number[] {
  const at = (multiple: number): number[] =>
    items.map(({ lower, upper, target }) => Math.max(lower, Math.min(upper, multiple * Math.max(target, MIN_TARGET))));
  const sumOf = (seats: readonly number[]): number => seats.reduce((sum, each) => sum + each, 0);
  let low = 0;
  let high = Math.max(1, ...items.map(({ upper, target }) => upper / Math.max(target, MIN_TARGET)));
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (sumOf(at(middle)) < total) low = middle;
    else high = middle;
  }
  return at(high);
}

/** Half of an earlier demand is forgotten after five minutes of periods of ten seconds. */
const SMOOTHING = 0.977;

/** Integrates a demand over time, from which average, deviation and maximum of a period follow. */
export class DemandIntegrator {
  #value = 0;
  #sinceMs: number;
  #periodMs = 0;
  #sum = 0;
  #squares = 0;
  #max = 0;
  highWatermark = 0;
  smoothed = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  set(value: number, nowMs: number): void {
    this.#add(nowMs);
    this.#value = value;
    if (value > this.#max) this.#max = value;
  }

  /** Ends a period. */
  update(nowMs: number): void {
    this.#add(nowMs);
    this.highWatermark = this.#max;
    if (this.#periodMs > 0) {
      const average = this.#sum / this.#periodMs;
      const deviation = Math.sqrt(Math.max(0, this.#squares / this.#periodMs - average * average));
      const envelope = average + deviation;
      this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
    }
    this.#periodMs = 0;
    this.#sum = 0;
    this.#squares = 0;
    this.#max = this.#value;
  }

  #add(nowMs: number): void {
    const ms = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (ms <= 0) return;
    this.#periodMs += ms;
    this.#sum += this.#value * ms;
    this.#squares += this.#value * this.#value * ms;
  }
}
