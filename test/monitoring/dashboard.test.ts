/** The dashboard: Grafana can load it, and its queries use existing metrics. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { labelsOfMetric } from "./known-metrics.ts";
import { parseExpression, selectorsOf } from "./promql-parser.ts";

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}
interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
  templating: { list: { name: string }[] };
}

const text = readFileSync(new URL("../../monitoring/dashboard.json", import.meta.url), "utf8");
const dashboard = JSON.parse(text) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== "row");

describe("the dashboard", () => {
  test("has panels with unique ids and positions, each with a title and a description", () => {
    const { panels: all } = dashboard;

    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [index, a] of all.entries())
      for (const b of all.slice(index + 1))
        expect(overlap(a.gridPos, b.gridPos), `${a.title} and ${b.title}`).toBe(false);
    for (const { title, description = "", gridPos } of panels) {
      expect(title).not.toBe("");
      expect(description, title).toMatch(/\.$/);
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    }
  });

  test("shows the fleet, latency, members, queues, failures, OpenKruise and Open Cluster Management", () => {
    expect(dashboard.panels.filter(({ type }) => type === "row").map(({ title }) => title)).toEqual([
      "Fleet",
      "Propagation latency",
      "Members",
      "Hub",
      "Failures",
      "OpenKruise",
      "Open Cluster Management",
    ]);
  });

  test("uses metrics and labels that exist", () => {
    for (const { title, targets = [] } of panels) {
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
      for (const { expr, legendFormat } of targets) {
        const selectors = selectorsOf(parseExpression(expr));
        expect(selectors.length, title).toBeGreaterThan(0);
        for (const { name, matchers } of selectors) {
          expect(labelsOfMetric(name), `${title}: ${name}`).toBeDefined();
          for (const { label } of matchers) expect(labelsOfMetric(name), `${title}: ${name}`).toContain(label);
        }
        for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          for (const { name } of selectors) expect(labelsOfMetric(name), `${title}: ${legendFormat}`).toContain(label);
      }
    }
  });

  test("refers to no concrete data source, and only to its own variables", () => {
    const names = new Set(Array.from(text.matchAll(/\$\{?(\w+)\}?/g), ([, name = ""]) => name));

    expect([...names].filter((name) => name !== "__rate_interval").toSorted()).toEqual(
      dashboard.templating.list.map(({ name }) => name).toSorted(),
    );
  });
});

function overlap(a: Panel["gridPos"], b: Panel["gridPos"]): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
