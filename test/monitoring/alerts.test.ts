/** The alert rules: their metrics exist, and each fires when it should and not otherwise. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { metricsPages } from "@flotilla/server";
import { alertCases, MINUTES } from "./alert-cases.ts";
import { parseExpression, selectorsOf } from "./promql-parser.ts";
import type { Expression } from "./promql-parser.ts";
import type { TimedScrape } from "./promql.ts";
import { alertGroups, alertRules, firing } from "./rules.ts";
import { labelsOfMetric } from "./known-metrics.ts";
import { parseMetrics } from "./scrape.ts";

const guide = readFileSync(new URL("../../docs/guides/monitoring.md", import.meta.url), "utf8");
const config = readFileSync(new URL("../../monitoring/prometheus.yaml", import.meta.url), "utf8");

describe("the rules", () => {
  test("have distinct names, a description of the problem, and a link to a runbook", () => {
    expect(new Set(alertRules.map(({ alert }) => alert)).size).toBe(alertRules.length);
    expect(new Set(alertGroups.map(({ name }) => name)).size).toBe(alertGroups.length);
    for (const { alert, labels, annotations } of alertRules) {
      expect(["critical", "warning", "info"], alert).toContain(labels.severity);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
      expect(annotations.description.length, alert).toBeGreaterThan(10);
      expect(annotations.runbook, alert).toBe(`docs/guides/monitoring.md#${alert.toLowerCase()}`);
      expect(guide, alert).toContain(`\n### ${alert}\n`);
    }
  });

  test("are all documented in the guide, and the guide documents no others", () => {
    const reported = Array.from(guide.matchAll(/^### (Flotilla\w+)$/gm), ([, name = ""]) => name);

    expect(reported.toSorted()).toEqual(alertRules.map(({ alert }) => alert).toSorted());
  });

  test("use metrics, labels and jobs that exist", () => {
    for (const { alert, expr, annotations } of alertRules) {
      const expression = parseExpression(expr);
      for (const { name, matchers } of selectorsOf(expression)) {
        const labels = labelsOfMetric(name);
        expect(labels, `${alert}: ${name}`).toBeDefined();
        for (const { label } of matchers) expect(labels, `${alert}: ${name}`).toContain(label);
        for (const { value } of matchers.filter(({ label }) => label === "job"))
          expect(config, alert).toContain(`job_name: ${value}\n`);
      }
      for (const label of groupings(expression))
        for (const { name } of selectorsOf(expression))
          expect(labelsOfMetric(name), `${alert}: ${name}`).toContain(label);
      for (const [, label = ""] of `${annotations.summary} ${annotations.description}`.matchAll(/\$labels\.(\w+)/g))
        expect(resultLabels(expression), `${alert} mentions ${label}`).toContain(label);
    }
  });

  test("scrape every page that they need", () => {
    for (const path of new Set(
      metricsPages.filter(({ path }) => !path.startsWith("/clusters/")).map(({ path }) => path),
    ))
      expect(config).toContain(`metrics_path: ${path}\n`);
  });
});

function groupings(expression: Expression): string[] {
  if (expression.type === "aggregate") return [...expression.by, ...groupings(expression.of)];
  if (expression.type === "binary") return [...groupings(expression.left), ...groupings(expression.right)];
  return expression.type === "call" ? expression.args.flatMap(groupings) : [];
}

function resultLabels(expression: Expression): readonly string[] {
  if (expression.type === "aggregate") return expression.by;
  if (expression.type === "call") return resultLabels(expression.args.at(-1) as Expression);
  if (expression.type === "binary") return resultLabels(expression.left);
  return expression.type === "selector" ? (labelsOfMetric(expression.name) ?? []) : [];
}

function scrapesOf(series: readonly string[]): TimedScrape[] {
  return Array.from({ length: MINUTES + 1 }, (_, minute) => {
    const lines = series.map((line) => {
      const [, id = "", first = "", step = "0"] = /^(.*) (-?[\d.e]+)(?:\+([\d.]+))?$/.exec(line) ?? [];
      return `# HELP ${id.split("{")[0]} x\n# TYPE ${id.split("{")[0]} untyped\n${id} ${Number(first) + Number(step) * minute}`;
    });
    // Families are repeated here, which a real page never does.
    return { timeMs: minute * 60_000, samples: lines.flatMap((text) => parseMetrics(`${text}\n`).samples) };
  });
}

describe("an alert", () => {
  test("has a case in which it fires and one in which it does not", () => {
    expect(Object.keys(alertCases).toSorted()).toEqual(alertRules.map(({ alert }) => alert).toSorted());
  });

  for (const [alert, { fires, quiet }] of Object.entries(alertCases)) {
    test(`${alert} fires when it should, and not otherwise`, () => {
      const rules = alertRules.filter((rule) => rule.alert === alert);

      expect(firing(scrapesOf(fires), rules).map((each) => each.alert)).toEqual([alert]);
      expect(firing(scrapesOf(quiet), rules)).toEqual([]);
    });
  }

  test("waits for its duration", () => {
    const rules = alertRules.filter(({ alert }) => alert === "FlotillaPropagationFailed");
    const scrapes = scrapesOf(alertCases["FlotillaPropagationFailed"]?.fires ?? []);

    expect(firing(scrapes.slice(0, 10), rules)).toEqual([]);
    expect(firing(scrapes.slice(0, 11), rules)).toEqual([
      { alert: "FlotillaPropagationFailed", labels: { member_cluster: "paris" }, value: 1 },
    ]);
  });
});
