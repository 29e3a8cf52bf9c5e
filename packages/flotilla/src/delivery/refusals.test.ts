import { expect, test } from "vitest";
import { UnknownKindError, UnreachableError } from "@flotilla/client";
import {
  conflict,
  deniedByWebhook,
  forbidden,
  internalError,
  invalid,
  notFound,
  tooManyRequests,
  unauthorized,
} from "@flotilla/apimachinery";
import { BusyMemberError } from "./member-lanes.ts";
import { obstacleOf } from "./obstacles.ts";
import { createRefusals } from "./refusals.ts";

const key = { cluster: "hub", namespace: "karmada-es-paris", name: "web" };
const middle = { next: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
const resource = { group: "apps", resource: "deployments" };

test("a rejected request backs off longer each time, independently of other requests", () => {
  const refusals = createRefusals(middle);
  const note = (question: string, nowMs: number): number =>
    refusals.note(key, { cluster: "paris", question, waitsForKind: false }, nowMs);

  expect(note("a", 0)).toBe(2_000);
  expect(refusals.restMs(key, () => "a", 500)).toBe(1_500);
  expect(refusals.restMs(key, () => "b", 500)).toBe(0);
  expect(note("a", 2_000)).toBe(4_000);
  expect(note("b", 6_000)).toBe(2_000);
  for (let time = 0; time < 20; time++) note("b", 0);
  expect(note("b", 0)).toBe(300_000);
});

test("Works that wait for a kind are returned by member, once", () => {
  const refusals = createRefusals(middle);
  refusals.note(key, { cluster: "paris", question: "a", waitsForKind: true }, 0);
  refusals.note({ ...key, name: "cart" }, { cluster: "paris", question: "a", waitsForKind: false }, 0);

  expect(refusals.takeWaitingForKinds("oslo")).toEqual([]);
  expect(refusals.takeWaitingForKinds("paris")).toEqual([key]);
  expect(refusals.takeWaitingForKinds("paris")).toEqual([]);
  expect(refusals.restMs(key, () => "a", 0)).toBe(0);
});

const errors: Record<string, [unknown, ReturnType<typeof obstacleOf>]> = {
  "an unreachable member": [new UnreachableError("no route"), "unreachable"],
  "a member that rejects our credentials": [unauthorized(), "unreachable"],
  "a busy member": [new BusyMemberError("paris"), "busy"],
  "a kind that is not served": [new UnknownKindError("paris", "a/v1", "B"), "missing-kind"],
  "an invalid field": [invalid("apps", "Deployment", "web", []), "refused"],
  "a quota or a missing permission": [forbidden(resource, "web", "exceeded quota"), "refused"],
  "a webhook rejection, with any code": [deniedByWebhook("check.example.com", 500, "not on Fridays"), "refused"],
  "a conflict": [conflict(resource, "web", "changed"), "passing"],
  "a missing namespace": [notFound({ group: "", resource: "namespaces" }, "shop"), "passing"],
  "a failing server": [internalError("etcd"), "passing"],
  "a rate-limited request": [tooManyRequests("later"), "passing"],
  "an internal error": [new TypeError("x is undefined"), "passing"],
};
for (const [what, [error, want]] of Object.entries(errors)) {
  test(`${what} is classified as ${want}`, () => {
    expect(obstacleOf(error)).toBe(want);
  });
}
