import { expect, test } from "vitest";
import { Pod } from "../pod/pod-kind.ts";
import { createFakeClock } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";
import { createExpectations } from "./expectations.ts";

const owner = { cluster: "member1", uid: "owner" };
const makePod = (resourceVersion: string, deletionTimestamp?: string): DeepReadonly<Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "a",
    namespace: "shop",
    uid: "a",
    resourceVersion,
    deletionTimestamp: deletionTimestamp || undefined,
  },
  spec: { containers: [] },
});

function start() {
  const clock = createFakeClock();
  let stored: DeepReadonly<Pod> | undefined;
  let listener: (event: ObjectEvent<Pod>) => void = () => {};
  const informer: Pick<Informer<Pod>, "kind" | "get" | "subscribe"> = {
    kind: Pod,
    get: () => stored,
    subscribe(next) {
      listener = (event) => next(event, "fresh");
      return () => {};
    },
  };
  const expectations = createExpectations(informer, clock);
  return {
    clock,
    expectations,
    show(object: DeepReadonly<Pod>, deleted = false): void {
      stored = deleted ? undefined : object;
      listener({ cluster: "member1", object, deleted });
    },
  };
}

test("an owner waits until the informer shows its write", () => {
  const { expectations, show } = start();

  expectations.wrote(owner, makePod("7"));
  const before = expectations.waitMs(owner);
  show(makePod("6"));
  const stillOld = expectations.waitMs(owner);
  show(makePod("7"));

  expect([before > 0, stillOld > 0, expectations.waitMs(owner)]).toEqual([true, true, 0]);
});

test("an informer that is faster than the response leaves nothing to wait for", () => {
  const { expectations, show } = start();
  show(makePod("10"));

  expectations.wrote(owner, makePod("9"));

  expect(expectations.waitMs(owner)).toBe(0);
});

test("a deletion counts as seen when deletionTimestamp is set", () => {
  const { expectations, show } = start();
  show(makePod("7"));

  expectations.deleted(owner, makePod("7"));
  const before = expectations.waitMs(owner);
  show(makePod("8", "2024-05-01T12:00:30Z"));

  expect([before > 0, expectations.waitMs(owner)]).toEqual([true, 0]);
});

test("deleting an object that no longer exists needs no wait", () => {
  const { expectations } = start();

  expectations.deleted(owner, makePod("7"));

  expect(expectations.waitMs(owner)).toBe(0);
});

test("waiting ends after five minutes if the change never arrives", () => {
  const { expectations, clock } = start();

  expectations.wrote(owner, makePod("7"));
  clock.advance(5 * 60_000);

  expect(expectations.waitMs(owner)).toBe(0);
});
