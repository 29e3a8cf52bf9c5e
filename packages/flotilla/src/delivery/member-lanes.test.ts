import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createMemberLanes } from "./member-lanes.ts";

const key = (name: string) => ({ cluster: "hub", namespace: "karmada-es-paris", name });

function setUp() {
  const clock = createFakeClock();
  const lanes = createMemberLanes({ clock, random: { next: () => 0.5, bytes: (length) => new Uint8Array(length) } });
  const woken: string[] = [];
  lanes.source.start(({ name }) => woken.push(name), new AbortController().signal);
  const enter = (name: string, cluster = "paris") => {
    const access = lanes.access(cluster, key(name));
    access.enter();
    return access;
  };
  /** Keys woken since the last call. */
  const taken = (): string[] => woken.splice(0);
  return { clock, lanes, enter, taken };
}

test("limits concurrent Works per member; others wait for a free place, without affecting other members", () => {
  const { enter, taken } = setUp();
  const active = Array.from({ length: 16 }, (_, index) => enter(`work-${index}`));

  expect(() => enter("seventeenth")).toThrow("cluster paris is busy");
  expect(() => enter("elsewhere", "oslo")).not.toThrow();
  active[0]?.leave();

  expect(taken()).toEqual(["seventeenth"]);
});

test("an unreachable member is probed by one Work at a time with growing backoff, and all Works return when it answers", () => {
  const { clock, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");

  clock.advance(999);
  expect(taken()).toEqual([]);
  clock.advance(1);
  expect(taken()).toEqual(["first"]);
  const trial = enter("first");
  expect(() => enter("third")).toThrow("no route to paris");
  trial.leave("timed out");
  clock.advance(2_000);
  expect(taken()).toEqual(["second"]);

  enter("second").leave();
  expect(taken()).toEqual(["third", "first"]);
  expect(() => enter("third")).not.toThrow();
});

test("a woken Work that needs no request passes its turn on", () => {
  const { clock, lanes, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");
  clock.advance(1_000);
  expect(taken()).toEqual(["first"]);

  lanes.access("paris", key("first")).leave();
  expect(taken()).toEqual(["second"]);
});

test("a deleted Work does not keep its place in the queue", () => {
  const { clock, lanes, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");

  lanes.forget("paris", key("first"));
  clock.advance(1_000);

  expect(taken()).toEqual(["second"]);
});

test("a member that becomes ready wakes all waiting Works at once", () => {
  const { lanes, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");

  lanes.restore("paris");

  expect(taken()).toEqual(["first", "second"]);
});
