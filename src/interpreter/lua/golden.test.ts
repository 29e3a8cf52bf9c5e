/** Every recorded case of Karmada's own Lua engine, and the few in which we differ, each with its reason. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { equalJson } from "../../base/index.ts";
import type { Json } from "../../base/index.ts";
import { runGoldenCase } from "./golden-case.ts";
import type { GoldenInput } from "./golden-case.ts";

interface Recorded {
  name: string;
  input: GoldenInput;
  want?: Json;
  wantAnyOf?: Json[];
}

const FRESH_GLOBALS = "every call has fresh globals and libraries; upstream's pool lets one script change another";
const TWICE = "a table may be referenced twice; only a cycle cannot be said in JSON";
const SURVIVES = "an empty value that the script did not touch survives, also where it was moved";
const GO_DUMP = "an error, but the message does not print the insides of a Go value";

const differences: Readonly<Record<string, string>> = {
  "lua/kube/004": GO_DUMP,
  "lua/kube/018": GO_DUMP,
  "lua/mut/010": TWICE,
  "lua/mut/012": TWICE,
  "lua/retain/012": SURVIVES,
  "lua/revise/001": SURVIVES,
  "lua/revise/016": "a key that upstream's path library reads as a wildcard is an ordinary key",
  "lua/sequence/001": FRESH_GLOBALS,
  "lua/sequence/002": FRESH_GLOBALS,
  "lua/sequence/003": FRESH_GLOBALS,
  "lua/sequence/007": FRESH_GLOBALS,
  "lua/sequence/008": FRESH_GLOBALS,
  "lua/sequence/009": "a script without the function is an error; upstream ran the function of another script",
};

const cases = gunzipSync(readFileSync(new URL("testdata/lua-semantics.jsonl.gz", import.meta.url)))
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

/** Addresses differ from run to run, and a trace is extra information. */
const comparable = (json: Json): Json => JSON.parse(JSON.stringify(json, (key, value: Json) => (key === "traceback" ? undefined : value)).replace(/0x[0-9a-f]+/g, "{{PTR}}")) as Json;

const agrees = ({ input, want, wantAnyOf }: Recorded): boolean => {
  const got = comparable(runGoldenCase(input));
  return (wantAnyOf ?? [want ?? null]).some((each) => equalJson(comparable(each), got));
};

test("does in every recorded case what Karmada's engine did, but for the listed differences", () => {
  const failed = cases.filter((each) => !(each.name in differences) && !agrees(each)).map(({ name }) => name);

  expect(failed).toEqual([]);
  expect(cases.length).toBe(471);
});

test("still differs where a difference is listed", () => {
  const agreeing = cases.filter((each) => each.name in differences && agrees(each)).map(({ name }) => name);

  expect(agreeing).toEqual([]);
});
