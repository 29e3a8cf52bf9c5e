import { describe, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { ResponseLimitError } from "./errors.ts";
import { parseResponse } from "./parse-response.ts";
import { UNTRUSTED_LIMITS } from "./response-limits.ts";

const parse = (text: string, isList = true): Promise<JsonObject> =>
  parseResponse("list pods", Buffer.from(text), isList, UNTRUSTED_LIMITS);

/** More than a list that is parsed at once. */
const LONG = "x".repeat(600_000);

describe("a long list", () => {
  const item = (name: string): JsonObject => ({
    metadata: { name },
    spec: { text: `"items":[{,${LONG}é\\"`, list: [[], {}] },
  });
  const cases: Record<string, unknown> = {
    "equals the same list parsed at once": {
      kind: "PodList",
      metadata: { resourceVersion: "7", items: ["not these"] },
      items: ["a", "b", "c", "d"].map(item),
    },
    "may have fields after its items": { items: ["a", "b", "c", "d"].map(item), metadata: { continue: "next" } },
    "may have one item": { items: [{ metadata: { name: LONG.repeat(4) } }], kind: "PodList" },
  };
  for (const [behaviour, list] of Object.entries(cases)) {
    test(behaviour, async () => {
      expect(await parse(JSON.stringify(list))).toEqual(list);
      expect(await parse(JSON.stringify(list, undefined, 2))).toEqual(list);
    });
  }

  test("may be empty", async () => {
    expect(await parse(`{"items": [ ],${" ".repeat(2_200_000)}"kind":"PodList"}`).catch(String)).toMatch(
      "beside its items",
    );
  });

  test("leaves the event loop to others between slices", async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);

    await parse(JSON.stringify({ items: Array.from({ length: 20 }, (_, place) => item(String(place))) }));

    clearImmediate(timer);
    expect(turns).toBeGreaterThan(10);
  });

  const hostile: Record<string, { text: string; says: string }> = {
    "with millions of values": { text: `{"items":[${"{},".repeat(2_100_000)}{}]}`, says: "more than 2000000 values" },
    "with one item of many values": {
      text: `{"items":[{"a":[${"1,".repeat(1_100_000)}1]}]}`,
      says: "an item of the list has more than 100000 values",
    },
    "with one long item": {
      text: `{"items":[{"a":"${LONG.repeat(8)}"}]}`,
      says: "an item of the list is longer than 4194304 bytes",
    },
    "with a second list of items": {
      text: `{"items":[{}],"x":"${LONG.repeat(4)}","items":[{}]}`,
      says: "more than 65536 bytes beside its items",
    },
    "without items but with many values": {
      text: `{"x":[${"{},".repeat(2_100_000)}{}]}`,
      says: "more than 2000000 values",
    },
  };
  for (const [what, { text, says }] of Object.entries(hostile)) {
    test(`${what} is rejected before it is parsed`, async () => {
      const failure = await parse(text).catch((error: unknown) => error);

      expect(failure).toBeInstanceOf(ResponseLimitError);
      expect(String(failure)).toContain(says);
    });
  }

  test.each([
    ["an item that is not an object", `{"items":[1,"${LONG.repeat(4)}"]}`, "not an object"],
    ["a truncated item", `{"items":[{"a":"${LONG.repeat(4)}"},{"b":]}`, "not JSON"],
    ["a truncated list", `{"items":[{"a":"${LONG.repeat(4)}"}`, "not JSON"],
  ])("%s is reported as an invalid response", async (_what, text, says) => {
    await expect(parse(text)).rejects.toThrow(says);
  });
});

test("an object with too many values is rejected before it is parsed", async () => {
  const failure = await parse(`{"kind":"ConfigMap","x":[${"{},".repeat(60_000)}{}]}`, false).catch(String);

  expect(failure).toContain("list pods: the response has more than 100000 values");
});
