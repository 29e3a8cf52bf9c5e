/** The shipped alert rules, and their evaluation over a series of scrapes. */
import { readFileSync } from "node:fs";
import { parseYaml } from "@flotilla/apimachinery";
import { durationMs } from "./promql-parser.ts";
import { evaluate } from "./promql.ts";
import type { Point, TimedScrape } from "./promql.ts";

export interface AlertRule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook: string };
}

export const alertGroups = (
  parseYaml(readFileSync(new URL("../../monitoring/alerts.yaml", import.meta.url), "utf8")) as unknown as {
    groups: { name: string; rules: AlertRule[] }[];
  }
).groups;
export const alertRules: readonly AlertRule[] = alertGroups.flatMap(({ rules }) => rules);

export interface FiringAlert {
  alert: string;
  labels: Point["labels"];
  value: number;
}

/**
 * The alerts that fire at the last scrape: an expression must have matched at every scrape for the rule's `for`
 * duration.
 */
export function firing(scrapes: readonly TimedScrape[], rules = alertRules): FiringAlert[] {
  const endMs = scrapes.at(-1)?.timeMs ?? 0;
  return rules.flatMap(({ alert, expr, for: duration }) => {
    const pendingMs = durationMs(duration);
    const idOf = ({ labels }: Point): string => JSON.stringify(labels);
    let pending = new Map<string, number>();
    let last: Point[] = [];
    for (const [index, { timeMs }] of scrapes.entries()) {
      last = evaluate(expr, scrapes.slice(0, index + 1));
      pending = new Map(last.map((point) => [idOf(point), pending.get(idOf(point)) ?? timeMs]));
    }
    return last
      .filter((point) => endMs - (pending.get(idOf(point)) ?? endMs) >= pendingMs)
      .map(({ labels, value }) => ({ alert, labels, value }));
  });
}
