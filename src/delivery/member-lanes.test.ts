import { expect, test } from "vitest";
import { createFakeClock } from "../base/index.ts";
import { createMemberLanes } from "./member-lanes.ts";

const key = (name: string) => ({ cluster: "hub", namespace: "karmada-es-paris", name });

function setUp() {
  const clock = createFakeClock();
  const lanes = createMemberLanes({ clock, random: { next: () => 0.5, bytes: (length) => new Uint8Array(length) } });
  const woken: string[] = [];
  lanes.source.start(({ name }) => woken.push(name), new AbortController().signal);
  const enter = (name: string, cluster = "paris") => {
    const passage = lanes.passage(cluster, key(name));
    passage.enter();
    return passage;
  };
  /** What came back since the last look. */
  const taken = (): string[] => woken.splice(0);
  return { clock, lanes, enter, taken };
}

test("a member is given so many Works at a time; the others wait, one for each that is done, and other members do not notice", () => {
  const { enter, taken } = setUp();
  const underWay = Array.from({ length: 16 }, (_, index) => enter(`work-${index}`));

  expect(() => enter("seventeenth")).toThrow("cluster paris is busy");
  expect(() => enter("elsewhere", "oslo")).not.toThrow();
  underWay[0]?.leave();

  expect(taken()).toEqual(["seventeenth"]);
});

test("a member that does not answer is tried by one Work at a time, ever more rarely, and all come back when it answers", () => {
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

test("one that was woken and needs nothing passes its turn on", () => {
  const { clock, lanes, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");
  clock.advance(1_000);
  expect(taken()).toEqual(["first"]);

  lanes.passage("paris", key("first")).leave();
  expect(taken()).toEqual(["second"]);
});

test("a Work that is gone is not waited for", () => {
  const { clock, lanes, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");

  lanes.forget("paris", key("first"));
  clock.advance(1_000);

  expect(taken()).toEqual(["second"]);
});

test("news that the member is ready brings everything back at once", () => {
  const { lanes, enter, taken } = setUp();
  enter("first").leave("no route to paris");
  expect(() => enter("second")).toThrow("no route to paris");

  lanes.restore("paris");

  expect(taken()).toEqual(["first", "second"]);
});
