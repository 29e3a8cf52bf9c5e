import { describe, expect, test } from "vitest";
import { UsageError } from "@flotilla/base";
import type { Decision } from "@flotilla/flotilla";
import { readLines, renderChange, selectRecords } from "./audit-records.ts";
import type { AuditFilter } from "./audit-records.ts";
import { readTime } from "./audit-times.ts";
import { renderAudit } from "./render-audit.ts";
import { namesOfType } from "./type-names.ts";

const MOVED: Decision = {
  apiVersion: "flotilla.dev/v1alpha1",
  kind: "Decision",
  metadata: { name: "2" },
  time: "2024-05-01T03:12:00.120000Z",
  type: "Moved",
  actor: { controller: "schedule", user: "system:flotilla:decisions" },
  object: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
  clusters: ["member1", "member2"],
  cause: { reason: "TaintUntolerated", message: "evicted from member2" },
  before: { member1: 3, member2: 3 },
  after: { member1: 6 },
};
const event = (verb: string, username: string, stage = "ResponseComplete") => ({
  kind: "Event",
  auditID: `${verb}-${username}`,
  stage,
  verb,
  requestURI: "/",
  user: { username },
  objectRef: { resource: "deployments", apiGroup: "apps", namespace: "shop", name: "web" },
  responseStatus: { code: 200 },
  stageTimestamp: "2024-05-01T03:11:58.000000Z",
  annotations: { "flotilla.dev/cluster": "hub" },
});
const LOG = [
  MOVED,
  MOVED,
  event("patch", "ann"),
  event("patch", "ann", "RequestReceived"),
  event("get", "ann"),
  event("patch", "system:flotilla:dispatch"),
]
  .map((record) => JSON.stringify(record))
  .join("\n");

const select = (filter: AuditFilter): string[] =>
  selectRecords(readLines(LOG).records, filter).map((record) =>
    record.type === "decision" ? record.decision.type : `${record.event.verb} by ${record.event.user?.username}`,
  );

describe("records of a log", () => {
  const cases: Record<string, { filter: AuditFilter; want: string[] }> = {
    "decisions once, and writes of users, in order": { filter: {}, want: ["patch by ann", "Moved"] },
    "of an object, by any name of its type": {
      filter: { types: namesOfType("deploy"), name: "web" },
      want: ["patch by ann", "Moved"],
    },
    "not of another object": { filter: { types: namesOfType("deploy"), name: "cart" }, want: [] },
    "not of another type": { filter: { types: namesOfType("clonesets.apps.kruise.io") }, want: [] },
    "about a member": { filter: { cluster: "member2" }, want: ["Moved"] },
    "of a controller": { filter: { user: "schedule" }, want: ["Moved"] },
    "of a user of the API, also one of ours": {
      filter: { user: "system:flotilla:dispatch" },
      want: ["patch by system:flotilla:dispatch"],
    },
    "of a time": {
      filter: { fromMs: Date.parse("2024-05-01T03:12:00Z"), untilMs: Date.parse("2024-05-01T03:13:00Z") },
      want: ["Moved"],
    },
  };
  test.each(Object.entries(cases))("%s", (_, { filter, want }) => {
    expect(select(filter)).toEqual(want);
  });

  test("counts lines that are not records", () => {
    expect(readLines('{"kind":"Status"}\nnot json\n').others).toBe(2);
  });
});

test("a decision is one row: who moved what, and why", () => {
  expect(
    renderAudit(selectRecords(readLines(LOG).records, {}))
      .split("\n")
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ["TIME", "WHAT", "OBJECT", "BY", "CHANGE AND CAUSE"],
    ["2024-05-01T03:11:58.000Z", "patch", "shop deployments/web", "ann", "200"],
    [
      "2024-05-01T03:12:00.120Z",
      "Moved",
      "shop deployment/web",
      "schedule",
      "member1 3 → 6, member2 3 → 0 (TaintUntolerated: evicted from member2)",
    ],
  ]);
});

test("changes of a release name the member and the field", () => {
  expect(
    renderChange(
      { member1: { "spec.updateStrategy.rollingUpdate.partition": 4 }, member2: "copy" },
      { member1: { "spec.updateStrategy.rollingUpdate.partition": 3 }, member2: null },
    ),
  ).toBe("member1 partition 4 → 3, member2 copy → none");
  expect(renderChange({ clusters: { a: 1 } }, { clusters: { a: 1 }, leaving: "a" })).toBe("leaving a");
});

describe("times", () => {
  const now = Date.parse("2024-05-01T12:00:00Z");
  test.each([
    ["1h", "2024-05-01T11:00:00.000Z"],
    ["03:12", "2024-05-01T03:12:00.000Z"],
    ["23:30", "2024-04-30T23:30:00.000Z"],
    ["2024-04-01T00:00:00Z", "2024-04-01T00:00:00.000Z"],
  ])("%s", (text, want) => {
    expect(new Date(readTime("--since", text, now)).toISOString()).toBe(want);
  });

  test("rejects others", () => {
    expect(() => readTime("--since", "yesterday", now)).toThrow(UsageError);
  });
});
