import { createFakeClock, createSeededRandom } from "@flotilla/base";
import { expect, test } from "vitest";
import { createSessions } from "./sessions.ts";
import type { Viewer } from "./viewers.ts";

const MINUTE_MS = 60_000;
const viewer = { key: "ann", user: "ann" } as Viewer;

function setUp(maxOfUser = 1_000) {
  const clock = createFakeClock();
  const left: Viewer[] = [];
  const onLeft = (gone: Viewer): void => void left.push(gone);
  return {
    clock,
    left,
    sessions: createSessions({ clock, random: createSeededRandom(1), idleMs: 60 * MINUTE_MS, maxOfUser, onLeft }),
  };
}

test("a code signs in once, and not after a minute", () => {
  const { clock, sessions } = setUp();
  const [first, second] = [sessions.issueCode(), sessions.issueCode()];

  const used = [sessions.redeemCode(first), sessions.redeemCode(first), sessions.redeemCode("x")];
  clock.advance(MINUTE_MS + 1_000);

  expect(used).toEqual([true, false, false]);
  expect(sessions.redeemCode(second)).toBe(false);
});

test("a session is found by its id until it is idle for too long, and its streams end then", () => {
  const { clock, sessions } = setUp();
  const session = sessions.open(viewer);

  clock.advance(59 * MINUTE_MS);
  const used = sessions.find(session.id);
  clock.advance(61 * MINUTE_MS);

  expect(used?.viewer).toBe(viewer);
  expect(sessions.find(session.id)).toBeUndefined();
  expect(session.ended.aborted).toBe(true);
});

test("ids and tokens of sessions differ, and an ended session stays ended", () => {
  const { sessions } = setUp();
  const [one, two] = [sessions.open(viewer), sessions.open(viewer)];

  sessions.end(one.id, "you signed out");

  expect(new Set([one.id, two.id, one.csrf, two.csrf]).size).toBe(4);
  expect(sessions.find(one.id)).toBeUndefined();
  expect(one.ended.reason).toBe("you signed out");
  expect(sessions.find(two.id)).toBeDefined();
});

test("a viewer has left when its last session has ended", () => {
  const { left, sessions } = setUp();
  const [one, two] = [sessions.open(viewer), sessions.open(viewer)];

  sessions.end(one.id, "you signed out");
  const early = left.slice();
  sessions.end(two.id, "you signed out");

  expect(early).toEqual([]);
  expect(left).toEqual([viewer]);
});

test("all sessions of a viewer end together, and those of others go on", () => {
  const { sessions } = setUp();
  const [one, two] = [sessions.open(viewer), sessions.open(viewer)];
  const other = sessions.open({ ...viewer, key: "ben" });

  sessions.endAll(viewer, "the token has expired");

  expect([one, two].map(({ ended }) => ended.reason)).toEqual(["the token has expired", "the token has expired"]);
  expect(other.ended.aborted).toBe(false);
});

test("of too many codes the oldest are forgotten", () => {
  const { sessions } = setUp();
  const codes = Array.from({ length: 17 }, () => sessions.issueCode());

  expect(codes.map((code) => sessions.redeemCode(code))).toEqual([false, ...Array.from({ length: 16 }, () => true)]);
});

test("of too many sessions the one that is idle for the longest ends", () => {
  const { clock, sessions } = setUp();
  const [first, second] = [sessions.open(viewer), sessions.open(viewer)];
  clock.advance(MINUTE_MS);
  sessions.find(first.id);
  for (let count = 2; count < 1_000; count++) sessions.open(viewer);

  const last = sessions.open(viewer);

  expect(second.ended.reason).toBe("there are too many sessions");
  expect(first.ended.aborted).toBe(false);
  expect(sessions.find(last.id)).toBeDefined();
});

test("a user with many sessions ends the user's own, whatever the credentials, and not those of others", () => {
  const { clock, sessions } = setUp(3);
  const other = sessions.open({ ...viewer, key: "ben", user: "ben" });
  clock.advance(MINUTE_MS);

  const own = Array.from({ length: 5 }, (_, index) => sessions.open({ ...viewer, key: `ann's token ${index}` }));

  expect(other.ended.aborted).toBe(false);
  expect(own.map(({ ended }) => ended.aborted)).toEqual([true, true, false, false, false]);
});

test("all sessions end with the server", () => {
  const { sessions } = setUp();
  const session = sessions.open(viewer);

  sessions.close();

  expect(session.ended.reason).toBe("the server stopped");
  expect(sessions.find(session.id)).toBeUndefined();
});
