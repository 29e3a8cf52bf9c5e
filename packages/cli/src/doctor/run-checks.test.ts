import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { ConfigMap } from "@flotilla/kubernetes";
import { Work } from "@flotilla/karmada";
import { UnreachableError } from "@flotilla/client";
import { forbidden } from "@flotilla/apimachinery";
import { createFakeClient } from "@flotilla/testing/fake-client.ts";
import { plain } from "../paint.ts";
import { defineCheck } from "./doctor-check.ts";
import { CHECKS } from "./checks/index.ts";
import type { DoctorCheck, DoctorFinding } from "./doctor-check.ts";
import { createHubLists } from "./context.ts";
import type { DoctorContext } from "./context.ts";
import { samplesOf } from "../health/metrics-samples.ts";
import { renderDoctor } from "./render-doctor.ts";
import { runChecks } from "./run-checks.ts";
import { slimObject } from "./slim-objects.ts";
import { localEnvironment } from "./local-environment.ts";

const { signal } = new AbortController();

function contextOf(
  clock = createFakeClock(),
): DoctorContext & { clock: ReturnType<typeof createFakeClock>; client: ReturnType<typeof createFakeClient> } {
  const client = createFakeClient({ clock });
  return {
    client,
    server: "https://hub",
    access: { kubeconfigs: ["hub.kubeconfig"] },
    data: ".",
    clock,
    signal,
    only: undefined,
    localEnvironment,
    lists: createHubLists({ client, signal, slim: slimObject }),
    checks: new Set(),
  };
}

const check = (name: string, gather: DoctorCheck["run"]): DoctorCheck => ({
  ...defineCheck<undefined>({
    name,
    summary: name,
    reports: "",
    gather: async () => undefined,
    judge: () => ({ seen: "", findings: [] }),
  }),
  run: gather,
});
const well = check("well", async () => ({ seen: "3 of 3", findings: [] }));
const limits = { stuckAfterMs: 60_000, limitMs: 20_000 };

test("a failing check is reported as unknown, and does not block the others", async () => {
  const report = await runChecks(
    [well, check("broken", () => Promise.reject(new Error("no way")))],
    contextOf(),
    limits,
  );

  expect(report.checks.map(({ name, verdict, seen }) => ({ name, verdict, seen }))).toEqual([
    { name: "well", verdict: "ok", seen: "3 of 3" },
    { name: "broken", verdict: "unknown", seen: "no way" },
  ]);
  expect(report).toMatchObject({ problems: 0, unknown: 1 });
});

test("an unreachable hub is explained only by the hub check", async () => {
  const away = new UnreachableError("list works of cluster hub at 127.0.0.1:6443: nothing listens there");

  const report = await runChecks(
    [
      check("works", () => Promise.reject(away)),
      check("drift", () => Promise.reject(new Error("reading Works", { cause: away }))),
    ],
    contextOf(),
    limits,
  );

  expect(report.checks.map(({ verdict, seen }) => ({ verdict, seen }))).toEqual([
    { verdict: "unknown", seen: "the hub does not respond" },
    { verdict: "unknown", seen: "the hub does not respond" },
  ]);
});

test("a check that exceeds its time limit is stopped and reported", async () => {
  const context = contextOf();
  let isStopped = false;
  const slow = check(
    "slow",
    ({ signal: own }) => new Promise(() => own.addEventListener("abort", () => (isStopped = true))),
  );

  const running = runChecks([slow, well], context, limits);
  context.clock.advance(20_000);
  const report = await running;

  expect(report.checks[0]).toMatchObject({ verdict: "unknown", seen: "it took longer than 20 s" });
  expect(isStopped).toBe(true);
});

test("merged findings name their causes", async () => {
  const finding = (about: string, seen: string): DoctorFinding => ({
    severity: "problem",
    about,
    seen,
    fix: "Correct it.",
    commands: [],
  });
  const report = await runChecks(
    [
      check("works", async () => ({
        seen: "",
        findings: [
          finding("web on m1", "no room (for 2m10s)"),
          finding("web on m2", "quota (for 2m10s)"),
          finding("web on m3", "no room (for 1m)"),
          finding("web on m4", "webhook"),
          finding("web on m5", "policy"),
        ],
      })),
    ],
    contextOf(),
    limits,
  );

  expect(report.checks[0]?.findings.map(({ about, seen }) => [about, seen])).toEqual([
    [
      "web on m1 and 4 more",
      "no room (for 2m10s); web on m2: quota (for 2m10s); web on m4: webhook; and 1 other cause",
    ],
  ]);
});

test("findings about one object are one, without a count of others", async () => {
  const taint = (seen: string): DoctorFinding => ({
    severity: "warning",
    about: "member oslo",
    seen,
    fix: "Remove the taint.",
    commands: ["flotilla uncordon oslo"],
  });
  const report = await runChecks(
    [
      check("members", async () => ({
        seen: "",
        findings: [taint("It has the taint a."), taint("It has the taint b.")],
      })),
    ],
    contextOf(),
    limits,
  );

  expect(report.checks[0]?.findings.map(({ about, seen }) => [about, seen])).toEqual([
    ["member oslo", "It has the taint a. It has the taint b."],
  ]);
});

test("findings with the same commands are merged", async () => {
  const finding = (about: string, command: string): DoctorFinding => ({
    severity: "problem",
    about,
    seen: "It is held.",
    fix: "Bring the member back.",
    commands: [command],
  });
  const report = await runChecks(
    [
      check("finalizers", async () => ({
        seen: "",
        findings: [finding("Work a", "x"), finding("Work b", "x"), finding("Work c", "y")],
      })),
    ],
    contextOf(),
    limits,
  );

  expect(report.checks[0]?.findings.map(({ about }) => about)).toEqual(["Work a and 1 more", "Work c"]);
  expect(report.problems).toBe(2);
});

test("lists are read once for all checks, in pages, and report when listing is forbidden", async () => {
  const { client, lists } = contextOf();
  await client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "web" },
  });

  const [first, second] = await Promise.all([lists.all(ConfigMap), lists.all(ConfigMap)]);
  client.failNext("list", forbidden({ group: Work.group, resource: Work.plural }, "", "not yours"));

  expect(first).toBe(second);
  expect(client.count("list")).toBe(1);
  await expect(lists.all(Work)).rejects.toThrow("you are not allowed to list works");
});

test("of a Work's manifests only the names are kept", () => {
  const work = {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "web", managedFields: [{}] },
    spec: {
      workload: {
        manifests: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "web", labels: {} }, data: { a: "secret" } }],
      },
    },
  } as unknown as Work;

  expect(slimObject(Work, work)).toEqual({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "web" },
    spec: { workload: { manifests: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "web" } }] } },
  });
});

test("of templates only their metadata is kept", () => {
  const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" }, data: { a: "1" } } as ConfigMap;

  expect(slimObject(ConfigMap, settings)).toEqual({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "web" } });
});

test("samples are read by metric name and labels", () => {
  const text = '# TYPE a_total counter\na_total{x="1",y="a\\"b"} 3\na_total_more{x="1"} 9\nb 4\na_total 7 1700000000\n';

  expect(samplesOf(text, "a_total")).toEqual([
    { labels: { x: "1", y: 'a"b' }, value: 3 },
    { labels: {}, value: 7 },
  ]);
});

test("the text has the findings with their commands first, and then a line for each check", async () => {
  const finding = {
    severity: "problem" as const,
    about: "member paris",
    seen: "It is away, and that for so long that this sentence does not fit into one line of a terminal.",
    fix: "Bring it back.",
    commands: ["flotilla unjoin paris --force"],
  };
  const report = await runChecks(
    [
      well,
      check("members", async () => ({
        seen: "1 of 3 not ready: paris",
        findings: [finding],
        unseen: ["the clock of paris"],
      })),
    ],
    contextOf(),
    limits,
  );

  expect(renderDoctor(report, { paint: plain, width: 80 }).split("\n")).toEqual([
    "hub https://hub",
    "",
    "PROBLEM members: member paris",
    "  It is away, and that for so long that this sentence does not fit into one",
    "    line of a terminal.",
    "  fix: Bring it back.",
    "    flotilla unjoin paris --force",
    "",
    "NOT CHECKED:",
    "  members: the clock of paris",
    "",
    "CHECK    RESULT   SEEN",
    "well     ok       3 of 3",
    "members  PROBLEM  1 of 3 not ready: paris",
    "",
    "1 problem, 0 warnings in what was checked, 1 could not check everything; 2 checks",
  ]);
  // Without a terminal: for `grep`.
  expect(renderDoctor(report, { paint: plain })).toContain(
    "  It is away, and that for so long that this sentence does not fit into one line of a terminal.\n",
  );
});

test("problems come before warnings, and of both those of the first checks come first", async () => {
  const found = (severity: "problem" | "warning", about: string): DoctorFinding => ({
    severity,
    about,
    seen: "It is wrong.",
    fix: "Correct it.",
    commands: [],
  });
  const report = await runChecks(
    [
      check("hub", async () => ({
        seen: "",
        findings: [found("warning", "the store"), found("problem", "the lease")],
      })),
      check("members", async () => ({ seen: "", findings: [found("problem", "member paris")] })),
      check("workloads", async () => ({
        seen: "",
        findings: [found("problem", "Deployment shop/web"), found("warning", "Deployment shop/api")],
      })),
    ],
    contextOf(),
    limits,
  );

  const text = renderDoctor(report, { paint: plain });
  expect(text.match(/^(?:PROBLEM|WARNING) .*$/gm)).toEqual([
    "PROBLEM hub: the lease",
    "PROBLEM members: member paris",
    "PROBLEM workloads: Deployment shop/web",
    "WARNING hub: the store",
    "WARNING workloads: Deployment shop/api",
  ]);
});

test("causes are checked before what follows from them", () => {
  const names = CHECKS.map(({ name }) => name);
  const order = ["hub", "members", "policies", "bindings", "works", "workloads", "drift"];

  expect(names.filter((name) => order.includes(name))).toEqual(order);
});
