/** Validates rules, their cases and the configuration with Prometheus' own promtool. Runs if $REAL_BIN has it. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatYaml } from "@flotilla/apimachinery";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alertCases, MINUTES } from "./alert-cases.ts";

const program = join(process.env["REAL_BIN"] ?? "", "promtool");
const isThere = process.env["REAL_BIN"] !== undefined && existsSync(program);
if (!isThere) process.stdout.write("skipped: rules and configuration by promtool: $REAL_BIN does not have it\n");

const shipped = (file: string): string => fileURLToPath(new URL(`../../monitoring/${file}`, import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-promtool-"));
  for (const file of ["alerts.yaml", "prometheus.yaml"]) copyFileSync(shipped(file), join(folder, file));
  for (const file of ["flotilla.token", "flotilla-ca.crt"]) writeFileSync(join(folder, file), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]): string =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** `name{labels} FIRST+STEP` in promtool's notation. */
function seriesOf(line: string): { series: string; values: string } {
  const [, series = "", first = "", step = "0"] = /^(.*) (-?[\d.e]+)(?:\+([\d.]+))?$/.exec(line) ?? [];
  return { series, values: `${first}+${step}x${MINUTES}` };
}

describe.skipIf(!isThere)("promtool", () => {
  test("accepts the rules", () => {
    expect(run("check", "rules", "alerts.yaml")).toMatch(/SUCCESS: \d+ rules found/);
  });

  test("accepts the configuration", () => {
    expect(run("check", "config", "--syntax-only", "prometheus.yaml")).toContain(
      "is valid prometheus config file syntax",
    );
  });

  test("finds every alert firing where it should, and not firing where it should not", { timeout: 120_000 }, () => {
    const count = (alert: string, series: readonly string[], value: number): object => ({
      interval: "1m",
      input_series: series.map(seriesOf),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: `${MINUTES}m`,
          exp_samples: [{ labels: "{}", value }],
        },
      ],
    });
    const tests = Object.entries(alertCases).flatMap(([alert, { fires, quiet }]) => [
      count(alert, fires, 1),
      count(alert, quiet, 0),
    ]);
    writeFileSync(
      join(folder, "test.yaml"),
      formatYaml({ rule_files: ["alerts.yaml"], evaluation_interval: "1m", tests }),
    );

    expect(run("test", "rules", "test.yaml")).toContain("SUCCESS");
  });
});
