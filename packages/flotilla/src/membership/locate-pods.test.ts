import { expect, test } from "vitest";
import { createFakeClock, createLog } from "@flotilla/base";
import { forbidden } from "@flotilla/apimachinery";
import { makeCloneSet, makeCluster } from "@flotilla/testing/builders.ts";
import { createLocatePods } from "./locate-pods.ts";
import type { MemberSource } from "./member.ts";

function locating(list: (signal: AbortSignal) => Promise<unknown>) {
  const lines: Record<string, unknown>[] = [];
  const clock = createFakeClock();
  const member = {
    delivery: {},
    client: { list: (_: unknown, options: { signal: AbortSignal }) => list(options.signal) },
  };
  const locate = createLocatePods({
    hub: "hub",
    clusters: { get: ({ name }) => makeCluster(name) },
    members: { find: () => member } as unknown as Pick<MemberSource, "find">,
    clock,
    log: createLog({ level: "info", clock, write: (line) => void lines.push(JSON.parse(line)) }),
  });
  return { locate, clock, lines };
}
const owner = makeCloneSet("shop/web").build();

test("a member that refuses to list its pods is not asked, and the reason is logged", async () => {
  const { locate, lines } = locating(() =>
    Promise.reject(forbidden({ group: "", resource: "pods" }, "", "no permission")),
  );

  expect(await locate(owner, ["paris"])).toEqual({ found: new Map(), unasked: ["paris"] });
  expect(lines).toMatchObject([
    {
      level: "info",
      message: "pods not listed on a member",
      key: "hub/shop/web",
      member: "paris",
      error: "pods is forbidden: no permission",
    },
  ]);
});

test("a member that does not answer is logged with the time limit", async () => {
  const { locate, clock, lines } = locating(
    (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );

  const located = locate(owner, ["paris"]);
  clock.advance(2_000);

  expect((await located).unasked).toEqual(["paris"]);
  expect(lines).toMatchObject([{ member: "paris", error: "paris did not answer within 2 s" }]);
});

test("a failure is logged when it begins, when it changes and when it ends, not at each retry", async () => {
  const answers = ["denied", "denied", "gone", undefined, undefined];
  const { locate, lines } = locating(() => {
    const error = answers.shift();
    return error === undefined ? Promise.resolve({ items: [] }) : Promise.reject(new Error(error));
  });

  while (answers.length > 0) await locate(owner, ["paris"]);

  expect(lines.map(({ message, error }) => [message, error])).toEqual([
    ["pods not listed on a member", "denied"],
    ["pods not listed on a member", "gone"],
    ["pods listed on a member again", undefined],
  ]);
});
