/**
 * The shipped doctor on a fleet with several injected problems: each is reported with its fix, and the fix, run
 * verbatim, resolves it.
 */
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromPackage } from "@flotilla/cli";
import type { DoctorFinding, DoctorReport } from "@flotilla/cli";
import { eventually } from "../programs/eventually.ts";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

const LIMIT_MS = 180_000;
const run = promisify(execFile);
const testdata = (name: string): string => fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
const kubectl = fromPackage();
if (kubectl === undefined)
  process.stdout.write("skipped: the npm package that carries kubectl has one for Linux on x64 only\n");

describe.runIf(kubectl !== undefined)("doctor", { timeout: LIMIT_MS }, () => {
  const directory = temporaryDirectory();
  let fleet: Up;
  /** Runs a shell line whose kubectl uses the hub. */
  const type = async (line: string): Promise<string> =>
    (
      await run("bash", ["-c", line], {
        env: {
          ...process.env,
          PATH: `${join(directory.path, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
          KUBECONFIG: fleet.kubeconfig("hub"),
        },
      })
    ).stdout;
  const look = async (...args: string[]): Promise<{ code: number | null; report: DoctorReport }> => {
    const { code, stdout, stderr } = await flotilla(
      "doctor",
      "--data",
      join(directory.path, "data"),
      "--stuck-after",
      "1",
      "-o",
      "json",
      ...args,
    );
    if (stdout === "") throw new Error(stderr);
    return { code, report: JSON.parse(stdout) as DoctorReport };
  };
  const findingsOf = ({ checks }: DoctorReport, name: string): readonly DoctorFinding[] =>
    checks.find((check) => check.name === name)?.findings ?? [];
  /** Runs one check until it reports a finding, and returns it. */
  const reported = async (name: string, about: string): Promise<DoctorFinding> => {
    const { report } = await eventually(
      `${name} reports ${about}`,
      () => look("--only", name),
      ({ report: seen }) =>
        findingsOf(seen, name).some((finding) => finding.about === about && finding.severity === "problem"),
    );
    return findingsOf(report, name).find((finding) => finding.about === about) as DoctorFinding;
  };
  const healed = (name: string, about: string): Promise<unknown> =>
    eventually(
      `${name} is healthy`,
      () => look("--only", name),
      ({ report }) =>
        !findingsOf(report, name).some((finding) => finding.about === about && finding.severity === "problem"),
    );

  beforeAll(async () => {
    mkdirSync(join(directory.path, "bin"));
    symlinkSync(kubectl ?? "", join(directory.path, "bin", "kubectl"));
    fleet = await up(
      join(directory.path, "data"),
      "--members",
      "2",
      "--nodes",
      "1",
      "--start-ms",
      "0",
      "--ephemeral",
      "--cluster-status-update-frequency",
      "1",
      "--cluster-success-threshold",
      "1",
      "--cluster-failure-threshold",
      "1",
    );
  }, LIMIT_MS);
  afterAll(async () => {
    await fleet?.stop("SIGTERM");
    directory.remove();
  }, LIMIT_MS);

  test("finds nothing wrong with a new fleet", async () => {
    const { code, report } = await look();

    expect(code, JSON.stringify(report)).toBe(0);
    expect(report.checks.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(report).toMatchObject({ problems: 0, warnings: 0, unknown: 0 });
  });

  test("reports a failing rule on its object with the script, and nothing once the script is corrected", async () => {
    await type(`kubectl apply -f ${testdata("sick-kind.yaml")}`);
    await type(`kubectl apply -f ${testdata("sick-objects.yaml")}`);

    const finding = await reported("interpreters", "GameFleet shop/eu");
    const corrected = join(directory.path, "corrected.json");
    await type(
      `kubectl get resourceinterpretercustomization gamefleet -o json | sed 's/spec.shape.size/spec.size/' > ${corrected} && kubectl apply -f ${corrected}`,
    );

    expect(finding.seen).toContain("GetReplicasFailed");
    expect(finding.commands).toContain("kubectl edit resourceinterpretercustomization gamefleet");
    await healed("interpreters", "GameFleet shop/eu");
  });

  test("reports a kind that members do not serve, and the suggested policy propagates its CRD", async () => {
    const finding = await reported("apis", "GameFleet of games.example.com/v1");

    await type(finding.commands[0] ?? "");

    expect(finding.seen).toContain("member1, member2 do not serve it; shop/eu waits for it.");
    await healed("apis", "GameFleet of games.example.com/v1");
    await healed("bindings", "GameFleet shop/eu");
  });

  test("reports an object blocked by a foreign finalizer, and the fix removes it", async () => {
    await type("kubectl delete configmap held -n shop --wait=false");

    const finding = await reported("finalizers", "ConfigMap shop/held");
    await type(finding.commands[0] ?? "");

    expect(finding.seen).toMatch(/held by example\.com\/hold\. Flotilla does not remove it/);
    await healed("finalizers", "ConfigMap shop/held");
  });

  test("reports an unreachable member, and the checks that were skipped meanwhile", async () => {
    await type("kubectl annotate clusters.cluster.karmada.io member2 simulation.flotilla.dev/fault=unreachable");

    const finding = await reported("members", "member member2");
    const { code, report } = await look();
    await type(finding.commands[0] ?? "");

    expect(code).toBe(1);
    expect(report.checks.find(({ name }) => name === "clocks")).toMatchObject({
      verdict: "partly",
      unseen: [expect.stringContaining("the clock of member2")],
    });
    expect(finding.fix).toContain("remove the annotation");
    await healed("members", "member member2");
  });

  test("finds nothing wrong with a repaired fleet", async () => {
    const { report } = await eventually(
      "no problem is left",
      () => look(),
      ({ code }) => code === 0,
    );

    expect(report.problems).toBe(0);
  });

  test("its text output into a pipe has one line for each check", async () => {
    const { stdout } = await flotilla("doctor", "--data", join(directory.path, "data"));

    const [, table = ""] = stdout.split(/^CHECK +RESULT +SEEN\n/m);
    const [rows = ""] = table.split("\n\n");
    expect(rows.split("\n").filter((line) => !/^\S/.test(line))).toEqual([]);
    expect(rows).toMatch(/^webhooks +ok +on the hub: .* does not respond$/m);
  });

  test("for an unreachable hub it reports only that, and the skipped checks", async () => {
    const kubeconfig = join(directory.path, "gone.kubeconfig");
    await type(`sed 's#${fleet.url}#https://127.0.0.1:1#' ${fleet.kubeconfig("hub")} > ${kubeconfig}`);

    const { code, stdout } = await flotilla("doctor", "--kubeconfig", kubeconfig, "--only", "hub,works");

    expect(code).toBe(1);
    expect(stdout).toMatch(/hub +PROBLEM/);
    expect(stdout).toMatch(/works +not checked/);
  });

  test("lint reports in files what doctor would report in the fleet, and uses the objects of a hub", async () => {
    const files = ["-f", testdata("sick-objects.yaml"), "-f", testdata("sick-kind.yaml")];
    const policy = join(directory.path, "policy.yaml");
    await type(`kubectl get propagationpolicy sick -n shop -o yaml > ${policy}`);

    const sick = await flotilla("lint", ...files);
    const strict = await flotilla("lint", ...files, "--strict");
    const alone = await flotilla(
      "lint",
      "-f",
      policy,
      "--against-hub",
      "--kubeconfig",
      fleet.kubeconfig("hub"),
      "--rule",
      "policy-selects-nothing",
      "-o",
      "json",
    );

    expect(sick).toMatchObject({ code: 0, stdout: expect.stringContaining("crd-not-on-members") as string });
    expect(strict.code).toBe(1);
    // The GameFleet is on the hub; the ConfigMap was deleted.
    expect(JSON.parse(alone.stdout)).toMatchObject({ findings: [{ field: "spec.resourceSelectors[1]" }] });
  });

  test("lint reports wrong usage in one line", async () => {
    const wrong = await Promise.all([
      flotilla("lint"),
      flotilla("lint", "-f", "nowhere.yaml"),
      flotilla("lint", "-f", "x", "--rule", "no-such"),
      flotilla("doctor", "--only", "no-such"),
      flotilla("doctor", "--data", join(directory.path, "data"), "--clusters", "membr1"),
    ]);

    expect(wrong.map(({ code }) => code)).toEqual([2, 1, 2, 2, 2]);
    expect(wrong.at(-1)?.stderr).toContain("did you mean 'member1'?");
  });
});
