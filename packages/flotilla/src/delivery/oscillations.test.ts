import { beforeEach, describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createOscillations, OscillationError } from "./oscillations.ts";
import type { Oscillations } from "./oscillations.ts";

const MINUTE_MS = 60_000;
const STOPPED =
  "Deployment web: the hub changed spec.image back and forth 3 times within ten minutes, and no longer writes the object until the template (1) changes";
const work = { cluster: "hub", namespace: "karmada-es-oslo", name: "web" };

let clock: FakeClock;
let oscillations: Oscillations;
let stopped: string[];
beforeEach(() => {
  clock = createFakeClock();
  stopped = [];
  oscillations = createOscillations({
    clock,
    onStopped: (cluster, change, isNew) => stopped.push(`${cluster} ${change}${isNew ? " new" : ""}`),
  });
});

const object = (fields: object, metadata: object = {}, name = "web"): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "shop", ...metadata },
  ...fields,
});
const spec = (value: unknown, name = "web"): KubernetesObject => object({ spec: { image: value } }, {}, name);

const guardFor = (to: KubernetesObject, ask = "1", applied?: Parameters<Oscillations["guard"]>[0]["applied"]) =>
  oscillations.guard({ work, cluster: "oslo", object: to, ask: { id: ask, text: `the template (${ask})` }, applied });

/** Whether the change from one object to the other may be written. */
function writes(from: KubernetesObject, to: KubernetesObject, ask = "1"): boolean {
  try {
    guardFor(to, ask).beforeChange(to, from);
    return true;
  } catch (error) {
    if (error instanceof OscillationError) return false;
    throw error;
  }
}
const play = (...values: unknown[]): boolean[] =>
  values.slice(1).map((value, index) => writes(spec(values[index]), spec(value)));

describe("a field that the hub changes back and forth", () => {
  test("is changed three times, and then not again", () => {
    expect(play("a", "b", "a", "b", "a")).toEqual([true, true, true, false]);
    expect(writes(spec("b"), spec("c"))).toBe(false);
    expect(stopped).toEqual(["oslo 1 new"]);
  });

  test("is found among three values as well", () => {
    expect(play("a", "b", "c", "a", "b", "c")).toEqual([true, true, true, true, false]);
  });

  test("is named in the message", () => {
    play("a", "b", "a", "b");

    expect(() => guardFor(spec("a")).beforeChange(spec("a"), spec("b"))).toThrow(STOPPED);
  });

  test("may be present and absent in turn", () => {
    const [without, label] = [object({}, { labels: {} }), object({}, { labels: { "app.io/tier": "a" } })];

    expect([writes(without, label), writes(label, without), writes(without, label), writes(label, without)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("may take longer than ten minutes", () => {
    for (const [from, to] of ["ab", "ba", "ab", "ba", "ab", "ba"]) {
      expect(writes(spec(from), spec(to))).toBe(true);
      clock.advance(6 * MINUTE_MS);
    }
  });
});

describe("a field that a Retain rule gives another value each time", () => {
  const MINE = "ResourceInterpreterCustomization mine";
  /** Whether the change to this value is written, which the rule made of the manifest. */
  function ruled(index: number, manifest = spec("sent"), ask = "1"): string {
    const [from, to] = [spec(`rule ${index}`), spec(`rule ${index + 1}`)];
    try {
      guardFor(to, ask).beforeChange(to, from, { owner: MINE, manifest, retained: to });
      return "written";
    } catch (error) {
      return (error as Error).message;
    }
  }

  test("gets five values, and the message names the rule", () => {
    const results = Array.from({ length: 6 }, (_, index) => ruled(index));

    expect(results).toEqual([
      ...Array.from({ length: 5 }, () => "written"),
      "Deployment web: the hub changed spec.image 5 times within ten minutes, because the Retain rule of " +
        `${MINE} gives it another value each time, and no longer writes the object until the template (1) changes`,
    ]);
    expect(stopped).toEqual(["oslo 1 new"]);
  });

  test("gets more when the template, the manifest or the window is another", () => {
    for (let index = 0; index < 20; index++) expect(ruled(index, undefined, String(index))).toBe("written");
    for (let index = 0; index < 20; index++) expect(ruled(index, spec(`sent ${index}`))).toBe("written");
    for (let index = 0; index < 20; index++) {
      expect(ruled(index, undefined, "a")).toBe("written");
      clock.advance(3 * MINUTE_MS);
    }
  });

  test("is none that the manifest has", () => {
    for (let index = 0; index < 20; index++) {
      const [from, to] = [spec(`rule ${index}`), spec(`rule ${index + 1}`)];
      const other = spec("sent");
      expect(() =>
        guardFor(to).beforeChange(to, from, { owner: MINE, manifest: other, retained: other }),
      ).not.toThrow();
    }
  });
});

describe("no oscillation is", () => {
  test("a series of new values", () => {
    expect(play("a", "b", "c", "d", "e", "f")).not.toContain(false);
  });

  test("drift that is repaired again and again", () => {
    for (let times = 0; times < 9; times++) expect(writes(spec("theirs"), spec("ours"))).toBe(true);
  });

  test("a record of the write in labels, annotations or status", () => {
    const at = (stage: string): KubernetesObject =>
      object({ status: { stage } }, { annotations: { "flotilla.dev/rollout-stage": stage }, resourceVersion: stage });
    for (const [from = "", to = ""] of ["ab", "ba", "ab", "ba", "ab"]) expect(writes(at(from), at(to))).toBe(true);
  });

  test("what a user changes in the template", () => {
    for (const [index, [from, to]] of ["ab", "ba", "ab", "ba", "ab"].entries())
      expect(writes(spec(from), spec(to), String(index))).toBe(true);
  });
});

describe("a stopped object", () => {
  beforeEach(() => void play("a", "b", "a", "b", "a"));

  test("is written again when the template changes", () => {
    expect(writes(spec("b"), spec("a"), "2")).toBe(true);
    expect(stopped).toEqual(["oslo 1 new", "oslo -1"]);
  });

  test("is written again when a policy or a rule that concerns it changes", () => {
    expect(oscillations.changed({ namespace: "other" })).toEqual([]);
    expect(oscillations.changed({ group: "batch", kind: "Job" })).toEqual([]);
    expect(writes(spec("b"), spec("a"))).toBe(false);
    expect(oscillations.changed({ namespace: "shop" })).toEqual([work]);
    expect(writes(spec("b"), spec("a"))).toBe(true);
    play("a", "b", "a", "b", "a");
    expect(oscillations.changed({ group: "apps", kind: "Deployment" })).toEqual([work]);
  });

  test("is reported while it happens to be as desired", () => {
    expect(() => guardFor(spec("b")).afterwards()).toThrow(STOPPED);
    expect(() => guardFor(spec("b"), "2").afterwards()).not.toThrow();
  });

  test("stays stopped however long it lasts", () => {
    clock.advance(60 * MINUTE_MS);

    expect(writes(spec("b"), spec("a"))).toBe(false);
  });
});

describe("a stop that the work reports", () => {
  const at = (ms: number) => ({
    reason: "Oscillating",
    message: `another failure; ${STOPPED}`,
    lastTransitionTime: new Date(ms).toISOString(),
  });
  const isStopped = (ask = "1", applied = at(clock.now())): boolean => {
    try {
      guardFor(spec("b"), ask, applied).afterwards();
      return false;
    } catch (error) {
      return error instanceof OscillationError && error.message === STOPPED;
    }
  };

  test("holds after a restart, and is counted as known", () => {
    expect(isStopped()).toBe(true);
    expect(() => guardFor(spec("a"), "1", at(0)).beforeChange(spec("a"), spec("b"))).toThrow(STOPPED);
    expect(stopped).toEqual(["oslo 1"]);
  });

  test("holds after a restart when a Retain rule is the reason", () => {
    const message = STOPPED.replace(
      "back and forth 3 times within ten minutes",
      "5 times within ten minutes, because the Retain rule of ResourceInterpreterCustomization mine gives it another value each time",
    );
    const applied = { ...at(clock.now()), message };

    expect(() => guardFor(spec("a"), "1", applied).beforeChange(spec("a"), spec("b"))).toThrow(message);
    expect(() => guardFor(spec("a"), "2", applied).beforeChange(spec("a"), spec("b"))).not.toThrow();
  });

  test("does not hold for another version of the template", () => {
    expect(isStopped("2")).toBe(false);
  });

  test("does not hold after a change of a policy while no process ran, in any order of the events", () => {
    const stoppedMs = clock.now() - 10 * MINUTE_MS;
    oscillations.changed({ namespace: "shop" }, stoppedMs - MINUTE_MS);
    expect(isStopped("1", at(stoppedMs))).toBe(true);
    expect(oscillations.changed({ namespace: "shop" }, stoppedMs + MINUTE_MS)).toEqual([work]);
    expect(isStopped("1", at(stoppedMs))).toBe(false);
  });

  test("does not hold after changes of more policies than are kept, which may include its own", () => {
    const stoppedMs = clock.now();
    for (let index = 0; index <= 10_000; index++) oscillations.changed({ namespace: `ns-${index}` }, stoppedMs + index);
    expect(isStopped("1", at(stoppedMs))).toBe(false);
    expect(isStopped("1", at(stoppedMs + MINUTE_MS))).toBe(true);
  });

  test("is another object's", () => {
    const other = { ...at(0), message: STOPPED.replace("Deployment web", "Deployment cart") };
    expect(isStopped("1", other)).toBe(false);
  });
});

test("objects that were not changed for ten minutes are not remembered, nor those of deleted works", () => {
  for (let index = 0; index < 50; index++) writes(spec("a", `web-${index}`), spec("b", `web-${index}`));
  expect(oscillations.size()).toBe(50);
  clock.advance(11 * MINUTE_MS);
  play("a", "b", "a", "b", "a");
  expect(oscillations.size()).toBe(1);

  oscillations.forget(work);

  expect(oscillations.size()).toBe(0);
  expect(stopped.at(-1)).toBe("oslo -1");
});
